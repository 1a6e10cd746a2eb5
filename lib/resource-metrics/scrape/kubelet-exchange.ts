import { AnswerBuffer, type AnswerBufferOptions } from './answer-buffer.ts';
import { type AnswerHead, type AnswerListener, HttpAnswerReader } from './http-answer-reader.ts';
import { KubeletRefusal } from './kubelet-refusal.ts';

/** Enough to say why not. */
const MAX_REFUSAL_BYTES = 16 * 1024;

/** A longer refusal is cut in the error. */
const MAX_REFUSAL_LENGTH = 200;

/** What hears how an exchange goes. */
export interface ExchangeListener {
  /** Nothing more is to be taken off the wire until the promise is settled. */
  wait(until: Promise<void>): void;
  /**
   * @param body puts the body together, to be read at once
   * @param isReusable whether the connection can take another question
   */
  answered(body: () => Buffer, isReusable: boolean): void;
  refused(error: KubeletRefusal, isReusable: boolean): void;
}

/** One question's answer, from its first byte to its last. */
export class KubeletExchange implements AnswerListener, Disposable {
  readonly #listener: ExchangeListener;
  readonly #reader = new HttpAnswerReader(this);
  readonly #buffer: AnswerBuffer;
  #statusCode = 0;
  readonly #refusal: Buffer[] = [];
  #refusalBytes = 0;

  constructor(listener: ExchangeListener, options: AnswerBufferOptions) {
    this.#listener = listener;
    this.#buffer = new AnswerBuffer(options);
  }

  /** @throws {HttpFault | ExcessiveAnswer} or why else the answer is of no use; the connection is not, either, then */
  read(chunk: Buffer): void {
    this.#reader.read(chunk);
  }

  /** Notes that nothing will come any more. */
  close(): void {
    this.#reader.close();
  }

  head({ statusCode, headers }: AnswerHead): void {
    this.#statusCode = statusCode;
    if (statusCode !== 200) return;
    const encoding = headers.get('content-encoding') ?? 'identity';
    if (encoding !== 'identity') {
      throw new Error(`the answer is encoded, though that was not asked for: ${encoding}`);
    }
    this.#buffer.expect(Number(headers.get('content-length') ?? 0));
  }

  body(bytes: Buffer): void {
    if (this.#statusCode === 200) {
      const room = this.#buffer.add(bytes);
      if (room) this.#listener.wait(room);
      return;
    }
    this.#refusal.push(bytes);
    this.#refusalBytes += bytes.length;
    if (this.#refusalBytes >= MAX_REFUSAL_BYTES) this.end(false);
  }

  end(isReusable: boolean): void {
    if (this.#statusCode === 200) this.#listener.answered(() => this.#buffer.contents(), isReusable);
    else {
      const text = Buffer.concat(this.#refusal).toString().trim().slice(0, MAX_REFUSAL_LENGTH);
      this.#listener.refused(new KubeletRefusal(this.#statusCode, text), isReusable);
    }
  }

  [Symbol.dispose](): void {
    this.#buffer[Symbol.dispose]();
  }
}
