import fc from 'fast-check';
import type { FuzzTarget } from './fuzz-target.ts';
import { mutated } from './mutations.ts';

/** Limits of a fuzz run. */
export interface FuzzEffort {
  readonly runs: number;
  readonly timeMs?: number;
  /** Reproduces the texts; random by default. */
  readonly seed?: number;
  /** Texts on which the target failed before; they are tried first. */
  readonly retained: readonly string[];
}

/** Result of a run; `failure` is the smallest text on which the target failed. */
export interface FuzzOutcome {
  readonly runs: number;
  readonly failure: { readonly text: string; readonly reason: string; readonly seed: number } | undefined;
}

/** Maximum CPU time: a text of 200 kB is read in milliseconds, so a higher cost is more than linear. */
const MAX_CPU_MS = 3_000;

/** The bound of a URL, which exceeds those of selectors and parsed headers. */
const USUAL_BOUND = 128 * 1024;

/** Passes mutated seeds to a target until it fails or a limit is reached. */
export async function fuzz(
  target: FuzzTarget,
  { runs, timeMs, seed: fixedSeed, retained }: FuzzEffort,
): Promise<FuzzOutcome> {
  const details = await fc.check(
    fc.asyncProperty(mutated(target.seeds, target.bound ?? USUAL_BOUND), (text) => expectSense(target, text)),
    {
      numRuns: runs,
      examples: retained.map((text) => [text]),
      ...(timeMs === undefined ? {} : { interruptAfterTimeLimit: timeMs }),
      ...(fixedSeed === undefined ? {} : { seed: fixedSeed }),
    },
  );
  const { counterexample, errorInstance, seed, numRuns } = details;
  const [text] = counterexample ?? [];
  const failure = text === undefined ? undefined : { text, reason: String(errorInstance), seed };
  return { runs: numRuns, failure };
}

async function expectSense(target: FuzzTarget, text: string): Promise<void> {
  let cpuMs = await cpuOfReading(target, text);
  // The minimum of several measurements: load or a garbage collection can multiply the cost of one.
  for (let again = 0; again < 2 && cpuMs > MAX_CPU_MS; again++)
    cpuMs = Math.min(cpuMs, await cpuOfReading(target, text));
  if (cpuMs > MAX_CPU_MS) throw new Error(`it took ${Math.round(cpuMs)} ms of CPU`);
}

async function cpuOfReading({ read, isRefusal }: FuzzTarget, text: string): Promise<number> {
  const before = process.cpuUsage();
  try {
    await read(text);
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
