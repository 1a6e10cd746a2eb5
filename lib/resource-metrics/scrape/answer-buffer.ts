import { formatMemoryBytes } from '#lib/kubernetes/quantity.ts';
import type { AnswerMemory, AnswerShare } from './answer-memory.ts';
import { ExcessiveAnswer } from './excessive-answer.ts';

/** Longer than the answers of nearly all kubelets. */
export const USUAL_ANSWER_BYTES = 256 * 1024;

/** How an answer is held while it comes in. */
export interface AnswerBufferOptions {
  /** A longer one is refused. */
  readonly maxBytes: number;
  /** Where what is longer than usual takes its room. */
  readonly memory: AnswerMemory;
  readonly signal: AbortSignal;
  /** Called with the reason when an answer that pauses while others wait has lost its room. */
  readonly evict: (error: Error) => void;
}

/** The body of one answer as it comes in; what is unusually long takes its room from what all such answers have together. */
export class AnswerBuffer implements Disposable {
  readonly #options: AnswerBufferOptions;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #share: AnswerShare | undefined;

  constructor(options: AnswerBufferOptions) {
    this.#options = options;
  }

  /** @throws {ExcessiveAnswer} when an answer of so many bytes is too long */
  expect(bytes: number): void {
    if (bytes > this.#options.maxBytes) throw tooLong(this.#options.maxBytes);
  }

  /**
   * Takes the next part.
   *
   * @returns what to wait for before the part after it is taken off the wire; rejects when the signal aborts meanwhile
   * @throws {ExcessiveAnswer} when the answer is too long
   */
  add(chunk: Buffer): Promise<void> | undefined {
    this.#bytes += chunk.length;
    this.expect(this.#bytes);
    this.#chunks.push(chunk);
    if (this.#bytes <= USUAL_ANSWER_BYTES) return undefined;
    const { memory, evict, signal } = this.#options;
    this.#share ??= memory.enter(evict);
    return this.#share.take(chunk.length, signal);
  }

  /**
   * All of it. It is to be read at once: the next answer is put together in the same place, and what came in is not kept.
   */
  contents(): Buffer {
    const chunks = this.#chunks.splice(0);
    if (this.#bytes > USUAL_ANSWER_BYTES) return Buffer.concat(chunks, this.#bytes);
    scratch ??= Buffer.allocUnsafe(USUAL_ANSWER_BYTES);
    let end = 0;
    for (const chunk of chunks) {
      scratch.set(chunk, end);
      end += chunk.length;
    }
    return scratch.subarray(0, end);
  }

  [Symbol.dispose](): void {
    this.#chunks.length = 0; // whoever holds this may be held for long, where the collector seldom looks
    this.#share?.[Symbol.dispose]();
  }
}

/** Where usual answers are put together, one after the other: each would leave as much memory behind as it is long. */
let scratch: Buffer | undefined;

function tooLong(maxBytes: number): ExcessiveAnswer {
  return new ExcessiveAnswer(
    'bytes',
    `the answer is larger than ${formatMemoryBytes(maxBytes)} (--kubelet-max-response-bytes)`,
  );
}
