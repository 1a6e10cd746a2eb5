import { formatMemoryBytes } from '#lib/kubernetes/quantity.ts';
import type { AnswerMemory, AnswerShare } from './answer-memory.ts';
import { ExcessiveAnswer } from './excessive-answer.ts';

/** Longer than the answers of nearly all kubelets. */
export const USUAL_ANSWER_BYTES = 256 * 1024;

/** What is read: chunks, until it is destroyed. */
export interface AnswerBody extends AsyncIterable<Uint8Array> {
  destroy(error?: Error): unknown;
}

/** How an answer is read. */
export interface AnswerReading {
  /** A longer one is refused. */
  readonly maxBytes: number;
  /** Where what is longer than usual takes its room. */
  readonly memory: AnswerMemory;
  readonly signal: AbortSignal;
}

/**
 * Reads an answer to its end.
 *
 * What is unusually long takes its room from what all such answers have together; nothing is taken off the wire while
 * one waits for that.
 *
 * @throws {ExcessiveAnswer} when it is too long, or pauses while others wait; the signal's reason when that aborts while
 * the answer waits
 */
export async function readAnswer(
  body: AnswerBody,
  { maxBytes, memory, signal }: AnswerReading,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let share: AnswerShare | undefined;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLong(maxBytes);
      if (bytes > USUAL_ANSWER_BYTES) {
        share ??= memory.enter((error) => body.destroy(error));
        await share.take(chunk.length, signal);
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, bytes);
  } finally {
    share?.[Symbol.dispose]();
  }
}

/** What is said of an answer of more than so many bytes. */
export function tooLong(maxBytes: number): ExcessiveAnswer {
  return new ExcessiveAnswer(
    'bytes',
    `the answer is larger than ${formatMemoryBytes(maxBytes)} (--kubelet-max-response-bytes)`,
  );
}

/** Reads at most so many bytes, and leaves the rest: that breaks the connection. */
export async function readBeginning(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8');
}
