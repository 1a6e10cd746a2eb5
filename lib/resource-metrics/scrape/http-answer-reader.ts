/** What stands before the body of an answer. */
export interface AnswerHead {
  readonly statusCode: number;
  /** By name in lower case; the values of several of one name are joined by commas. */
  readonly headers: ReadonlyMap<string, string>;
}

/** What hears of an answer, part by part. */
export interface AnswerListener {
  /** Comes first, once. */
  head(head: AnswerHead): void;
  body(bytes: Buffer): void;
  /** @param isReusable whether the connection can take another question */
  end(isReusable: boolean): void;
}

/** Something that is not HTTP/1.1, or not by its rules. */
export class HttpFault extends Error {}

/** A head, a line of chunk sizes and the trailers together are longer than this only if something is wrong. */
const MAX_HEAD_BYTES = 16 * 1024;

const LINE_FEED = 0x0a;
const NOTHING = Buffer.alloc(0);

type State =
  | 'status'
  | 'headers'
  | 'sized'
  | 'until-close'
  | 'chunk-size'
  | 'chunk'
  | 'chunk-end'
  | 'trailers'
  | 'end';

/** Reads one answer to a GET as it comes in (RFC 9112). */
export class HttpAnswerReader {
  readonly #listener: AnswerListener;
  #state: State = 'status';
  /** The beginning of a line that has not come in whole. */
  #held: Buffer = NOTHING;
  #headBytes = 0;
  #statusCode = 0;
  #headers = new Map<string, string>();
  #isHttp10 = false;
  /** Of the body, or of the chunk that is being read. */
  #bytesLeft = 0;

  constructor(listener: AnswerListener) {
    this.#listener = listener;
  }

  /** @throws {HttpFault} at what breaks the rules, and at anything that comes after the end */
  read(chunk: Buffer): void {
    let rest = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = NOTHING;
    while (rest.length > 0) {
      const left = this.#step(rest);
      if (left === undefined) {
        this.#countHead(rest.length, 0);
        this.#held = rest;
        return;
      }
      rest = left;
    }
  }

  /** Notes that nothing will come any more. Whether the answer was whole is told by whether its end was. */
  close(): void {
    if (this.#state === 'until-close') this.#finish(false);
  }

  /** What is left of the bytes after the next part; `undefined` where there is not all of it. */
  #step(bytes: Buffer): Buffer | undefined {
    if (this.#state === 'end') throw new HttpFault('the kubelet says more than it was asked for');
    if (this.#state === 'until-close') return this.#pass(bytes, bytes.length);
    if (this.#state === 'sized' || this.#state === 'chunk') {
      const left = this.#pass(bytes, Math.min(this.#bytesLeft, bytes.length));
      if (this.#bytesLeft === 0) this.#endOfPart();
      return left;
    }
    const end = bytes.indexOf(LINE_FEED);
    if (end < 0) return undefined;
    const isLong = end > 0 && bytes[end - 1] === 0x0d;
    const line = bytes.toString('latin1', 0, isLong ? end - 1 : end);
    if (this.#state !== 'chunk-size' && this.#state !== 'chunk-end') this.#countHead(0, end);
    this.#readLine(line);
    return bytes.subarray(end + 1);
  }

  #pass(bytes: Buffer, length: number): Buffer {
    this.#bytesLeft -= length;
    this.#listener.body(bytes.subarray(0, length));
    return bytes.subarray(length);
  }

  #endOfPart(): void {
    if (this.#state === 'chunk') this.#state = 'chunk-end';
    else this.#finish(this.#isKeptAlive());
  }

  #readLine(line: string): void {
    if (this.#state === 'status') this.#readStatus(line);
    else if (this.#state === 'headers' && line === '') this.#endOfHead();
    else if (this.#state === 'headers') this.#readHeader(line);
    else if (this.#state === 'chunk-size') this.#readChunkSize(line);
    else if (this.#state === 'chunk-end') {
      if (line !== '') throw new HttpFault('a chunk of its answer is longer than it says');
      this.#state = 'chunk-size';
    } else if (line === '') this.#finish(this.#isKeptAlive());
  }

  #readStatus(line: string): void {
    const [, minor, status] = /^HTTP\/1\.(\d) (\d{3})(?: .*)?$/.exec(line) ?? [];
    if (status === undefined) throw new HttpFault('it does not speak HTTP');
    this.#isHttp10 = minor === '0';
    this.#statusCode = Number(status);
    this.#headers = new Map();
    this.#state = 'headers';
  }

  #readHeader(line: string): void {
    const [, name, value = ''] = /^([^\s:]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (name === undefined) throw new HttpFault('a header of its answer is not valid');
    const key = name.toLowerCase();
    const held = this.#headers.get(key);
    this.#headers.set(key, held === undefined ? value : `${held}, ${value}`);
  }

  #endOfHead(): void {
    const statusCode = this.#statusCode;
    const headers = this.#headers;
    if (statusCode < 200) {
      this.#state = 'status'; // something provisional, and the answer comes after it
      return;
    }
    this.#listener.head({ statusCode, headers });
    const coding = headers.get('transfer-encoding');
    const length = headers.get('content-length');
    if (statusCode === 204 || statusCode === 304) this.#finish(this.#isKeptAlive());
    else if (coding !== undefined) {
      if (coding.toLowerCase() !== 'chunked')
        throw new HttpFault(`its answer is in transfer coding "${coding}"`);
      this.#state = 'chunk-size';
    } else if (length === undefined) this.#state = 'until-close';
    else if (!/^\d{1,15}$/.test(length)) throw new HttpFault(`the length of its answer is "${length}"`);
    else {
      this.#bytesLeft = Number(length);
      this.#state = 'sized';
      if (this.#bytesLeft === 0) this.#endOfPart();
    }
  }

  #readChunkSize(line: string): void {
    const [, size] = /^([\da-fA-F]{1,12})[ \t]*(?:;.*)?$/.exec(line) ?? [];
    if (size === undefined) throw new HttpFault('the size of a chunk of its answer is not valid');
    this.#bytesLeft = Number.parseInt(size, 16);
    this.#state = this.#bytesLeft === 0 ? 'trailers' : 'chunk';
  }

  #isKeptAlive(): boolean {
    return !this.#isHttp10 && !/\bclose\b/i.test(this.#headers.get('connection') ?? '');
  }

  #finish(isReusable: boolean): void {
    this.#state = 'end';
    this.#listener.end(isReusable);
  }

  #countHead(held: number, taken: number): void {
    this.#headBytes += taken;
    if (this.#headBytes + held > MAX_HEAD_BYTES) throw new HttpFault("the answer's headers are too large");
  }
}
