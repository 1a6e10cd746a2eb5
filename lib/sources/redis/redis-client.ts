import { onAbort } from '#lib/time/abort-signal.ts';
import type { PooledClient } from '../network/client-pool.ts';
import { type Dialled, type DialOptions, dial } from '../network/guarded-socket.ts';
import { rejectLineBreaks } from '../network/reject-line-breaks.ts';
import { Secrets } from '../secrets.ts';

export interface RedisAccess {
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
}

/** Further commands fail. */
const MAX_PENDING = 10_000;

/** A connection to a Redis server with pipelined commands. */
export class RedisConnection implements PooledClient {
  readonly #dialled: Dialled;
  readonly #decoder = new RespDecoder();
  readonly #pending: PromiseWithResolvers<RespValue>[] = [];
  readonly #secrets: Secrets;
  #failure: Error | undefined;

  private constructor(dialled: Dialled, { password }: RedisAccess) {
    this.#dialled = dialled;
    this.#secrets = new Secrets([password]);
    const { socket } = dialled;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the connection is closed')));
  }

  /** Connects and authenticates. @throws the connection error, or that of the server */
  static async connect(options: RedisAccess & DialOptions, signal: AbortSignal): Promise<RedisConnection> {
    const { username, password, database } = options;
    const connection = new RedisConnection(await dial(options, signal), options);
    using _aborted = onAbort(signal, () => connection.#fail(signal.reason));
    try {
      if (password !== undefined)
        await connection.send('AUTH', ...(username === undefined ? [] : [username]), password);
      if (database !== 0) await connection.send('SELECT', `${database}`);
      await connection.send('PING');
      return connection;
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  get isBroken(): boolean {
    return this.#failure !== undefined;
  }

  /** Sends one command. @throws the error of the server or the connection */
  async send(...words: readonly string[]): Promise<RespValue> {
    if (this.#failure) throw this.#failure;
    rejectLineBreaks('an argument of a Redis command', words);
    if (this.#pending.length >= MAX_PENDING) throw new Error('too many pending commands');
    const response = Promise.withResolvers<RespValue>();
    this.#pending.push(response);
    this.#dialled.socket.write(encodeCommand(words));
    const value = await response.promise;
    if (value instanceof RespError) throw new Error(this.#secrets.redact(value.message));
    return value;
  }

  destroy(): void {
    this.#fail(new Error('the connection is closed'));
  }

  #receive(chunk: Buffer): void {
    if (this.#failure) return;
    try {
      for (const value of this.#decoder.decode(chunk)) {
        const waiting = this.#pending.shift();
        if (!waiting) throw new Error('unexpected response: no pending command');
        waiting.resolve(value);
      }
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #fail(error: Error): void {
    if (this.#failure) return;
    this.#failure = error;
    this.#dialled.destroy();
    for (const { reject } of this.#pending.splice(0)) reject(error);
  }
}

function encodeCommand(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}

/** A response in RESP2; it may contain errors. */
export type RespValue = string | number | null | RespError | readonly RespValue[];

/**
 * An error response, with the unredacted text of the server. No `Error`, whose stack trace would take a hundred times
 * the CPU and memory: a list may contain thousands.
 */
export class RespError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

interface Open {
  readonly items: RespValue[];
  left: number;
}

/** A longer response is an error. A count takes a few bytes, each group of a stream some hundred. */
const MAX_BYTES = 128 * 1024;
/** Each group of a stream has 13 values. Parsing so many takes a few milliseconds, which block the event loop. */
const MAX_VALUES = 8192;
const MAX_DEPTH = 8;
const INTEGER = /^[+-]?\d{1,19}$/;
const [CR, LF] = [13, 10];

/** Decodes a stream of bounded responses in linear time. */
export class RespDecoder {
  #buffer = Buffer.alloc(0);
  /** Number of buffered bytes that contain no line end. */
  #scanned = 0;
  /** Length of the bulk string that is expected next; `undefined` for a line. */
  #textLength: number | undefined;
  #responseBytes = 0;
  #responseValues = 0;
  readonly #open: Open[] = [];

  /**
   * Returns the responses that are complete with these bytes.
   *
   * @throws an Error if they are invalid; the decoder is unusable then
   */
  decode(chunk: Buffer): readonly RespValue[] {
    const whole: RespValue[] = [];
    this.#append(chunk);
    let at = 0;
    for (;;) {
      const end = this.#findEnd(at);
      if (end === undefined) break;
      this.#responseBytes += end - at;
      if (++this.#responseValues > MAX_VALUES)
        throw new Error(`the response has more than ${MAX_VALUES} values`);
      const value = this.#readToken(this.#buffer.subarray(at, end - 2));
      at = end;
      this.#scanned = end;
      const response = value === undefined ? undefined : this.#add(value);
      if (response === undefined) continue;
      whole.push(response);
      this.#responseBytes = 0;
      this.#responseValues = 0;
    }
    this.#buffer = this.#buffer.subarray(at);
    this.#scanned -= at;
    if (this.#responseBytes + this.#buffer.length > MAX_BYTES) throw tooLong();
    return whole;
  }

  #append(chunk: Buffer): void {
    const { length } = this.#buffer;
    const bytes = length + chunk.length;
    const store = this.#buffer.buffer;
    const end = this.#buffer.byteOffset + length;
    if (length > 0 && store.byteLength >= end + chunk.length) {
      // Use the space after the buffered bytes; otherwise each byte would be copied with every chunk.
      const grown = Buffer.from(store, this.#buffer.byteOffset, bytes);
      chunk.copy(grown, length);
      this.#buffer = grown;
      return;
    }
    const grown = Buffer.from(new ArrayBuffer(Math.max(256, 2 * bytes)), 0, bytes);
    this.#buffer.copy(grown);
    chunk.copy(grown, length);
    this.#buffer = grown;
  }

  /** Returns the end of the next token, including its CR and LF; `undefined` if it is incomplete. */
  #findEnd(at: number): number | undefined {
    if (this.#textLength !== undefined) {
      const end = at + this.#textLength + 2;
      if (end > this.#buffer.length) return undefined;
      if (this.#buffer[end - 2] !== CR || this.#buffer[end - 1] !== LF) throw unreadable();
      return end;
    }
    const lineFeed = this.#buffer.indexOf(LF, Math.max(at, this.#scanned));
    if (lineFeed === -1) {
      this.#scanned = this.#buffer.length;
      return undefined;
    }
    if (lineFeed === at || this.#buffer[lineFeed - 1] !== CR) throw unreadable();
    return lineFeed + 1;
  }

  /** @returns `undefined` for the start of a bulk string or list */
  #readToken(bytes: Buffer): RespValue | undefined {
    if (this.#textLength !== undefined) {
      this.#textLength = undefined;
      return bytes.toString('utf8');
    }
    const line = bytes.toString('utf8', 1);
    switch (String.fromCharCode(bytes[0] ?? 0)) {
      case '+':
        return line;
      case '-':
        return new RespError(line);
      case ':':
        return parseInteger(line);
      case '$': {
        const length = parseLength(line);
        if (length !== null) this.#textLength = length;
        return length === null ? null : undefined;
      }
      case '*': {
        const length = parseLength(line);
        if (length === null) return null;
        if (length === 0) return [];
        if (this.#open.length === MAX_DEPTH) throw new Error(`the response is nested too deeply`);
        this.#open.push({ items: [], left: length });
        return undefined;
      }
      default:
        throw unreadable();
    }
  }

  /** Adds a value to the open list, if any. @returns the response that is complete with it */
  #add(value: RespValue): RespValue | undefined {
    let closed = value;
    for (let list = this.#open.at(-1); list; list = this.#open.at(-1)) {
      list.items.push(closed);
      list.left--;
      if (list.left > 0) return undefined;
      closed = list.items;
      this.#open.pop();
    }
    return closed;
  }
}

function parseInteger(line: string): number {
  if (!INTEGER.test(line)) throw unreadable();
  return Number(line);
}

/** @returns `null` for a null value */
function parseLength(line: string): number | null {
  const length = parseInteger(line);
  if (length === -1) return null;
  if (length < 0) throw unreadable();
  if (!(length <= MAX_BYTES)) throw tooLong();
  return length;
}

function tooLong(): Error {
  return new Error(`the response is longer than ${MAX_BYTES} bytes`);
}

function unreadable(): Error {
  return new Error('the response is not valid RESP');
}
