import type { Clock } from '#lib/time/clock.ts';
import type { TurnGate } from './turn-gate.ts';

/** Longer than the answers of nearly all kubelets. */
export const USUAL_ANSWER_BYTES = 256 * 1024;

/** One that says nothing for so long gives its turn to others, and asks for another when it goes on. */
const LONGEST_SILENCE_MS = 250;

/** How an answer is read. */
export interface AnswerReading {
  /** Lets those on whose answer is longer than usual. */
  readonly longAnswers: TurnGate;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Reads an answer as UTF-8 text.
 *
 * What is unusually long is read a few at a time: a hundred kubelets that go on and on would otherwise fill our memory
 * together, each within what one may say. Nothing is taken off the wire while an answer waits for its turn, and one
 * that stalls holds up nobody.
 *
 * @throws the signal's reason when it aborts while the answer waits
 */
export async function readAnswer(
  body: AsyncIterable<Uint8Array>,
  { longAnswers, clock, signal }: AnswerReading,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let turn: Disposable | undefined;
  let silence: AbortController | undefined;
  const yieldAfterSilence = () => {
    silence = new AbortController();
    clock.sleep(LONGEST_SILENCE_MS, { signal: silence.signal }).then(
      () => {
        turn?.[Symbol.dispose]();
        turn = undefined;
      },
      () => {}, // it went on
    );
  };
  try {
    for await (const chunk of body) {
      silence?.abort();
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= USUAL_ANSWER_BYTES) continue;
      turn ??= await longAnswers.enter(signal);
      yieldAfterSilence();
    }
  } finally {
    silence?.abort();
    turn?.[Symbol.dispose]();
  }
  return Buffer.concat(chunks, bytes).toString('utf8');
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
