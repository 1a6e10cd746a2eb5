import fc from 'fast-check';
import type { FuzzTarget } from './fuzz-target.ts';
import { mutated } from './mutations.ts';

/** How long to go on. */
export interface FuzzEffort {
  readonly runs: number;
  readonly timeMs?: number;
  /** Texts on which the target failed once; they are tried first. */
  readonly kept: readonly string[];
}

/** What came of it; `failure` is the smallest text on which the target failed. */
export interface FuzzOutcome {
  readonly runs: number;
  readonly failure: { readonly text: string; readonly reason: string; readonly seed: number } | undefined;
}

/** Some texts have 200 kB, which is read in milliseconds; what takes longer than this has a cost that explodes. */
const LONGEST_MS = 3_000;

/** That of a URL, and past those of selectors and headers that are looked into. */
const USUAL_BOUND = 128 * 1024;

/** Has a target read changed seeds until it fails or the effort is spent. */
export function fuzz(target: FuzzTarget, { runs, timeMs, kept }: FuzzEffort): FuzzOutcome {
  const details = fc.check(
    fc.property(mutated(target.seeds, target.bound ?? USUAL_BOUND), (text) => expectSense(target, text)),
    {
      numRuns: runs,
      examples: kept.map((text) => [text]),
      ...(timeMs === undefined ? {} : { interruptAfterTimeLimit: timeMs }),
    },
  );
  const { counterexample, errorInstance, seed, numRuns } = details;
  const [text] = counterexample ?? [];
  const failure = text === undefined ? undefined : { text, reason: String(errorInstance), seed };
  return { runs: numRuns, failure };
}

function expectSense({ read, isRefusal }: FuzzTarget, text: string): void {
  const startMs = performance.now();
  try {
    read(text);
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  const tookMs = performance.now() - startMs;
  if (tookMs > LONGEST_MS) throw new Error(`it took ${Math.round(tookMs)} ms`);
}
