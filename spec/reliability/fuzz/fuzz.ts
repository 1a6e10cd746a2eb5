import fc from 'fast-check';
import type { FuzzTarget } from './fuzz-target.ts';
import { mutated } from './mutations.ts';

/** How long to go on. */
export interface FuzzEffort {
  readonly runs: number;
  readonly timeMs?: number;
  /** Draws the same texts each time; other ones by default. */
  readonly seed?: number;
  /** Texts on which the target failed once; they are tried first. */
  readonly kept: readonly string[];
}

/** What came of it; `failure` is the smallest text on which the target failed. */
export interface FuzzOutcome {
  readonly runs: number;
  readonly failure: { readonly text: string; readonly reason: string; readonly seed: number } | undefined;
}

/** Of CPU: some texts have 200 kB, which is read in milliseconds; what takes more than this has a cost that explodes. */
const MAX_CPU_MS = 3_000;

/** That of a URL, and past those of selectors and headers that are looked into. */
const USUAL_BOUND = 128 * 1024;

/** Has a target read changed seeds until it fails or the effort is spent. */
export async function fuzz(
  target: FuzzTarget,
  { runs, timeMs, seed: fixedSeed, kept }: FuzzEffort,
): Promise<FuzzOutcome> {
  const details = await fc.check(
    fc.asyncProperty(mutated(target.seeds, target.bound ?? USUAL_BOUND), (text) => expectSense(target, text)),
    {
      numRuns: runs,
      examples: kept.map((text) => [text]),
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
  // The best of several counts: beside other load, and where garbage is collected, one may cost many times as much.
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
