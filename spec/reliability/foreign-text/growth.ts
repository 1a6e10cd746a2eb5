/** Kernels count CPU time in steps of 4 ms: what is measured takes several of these. */
const MEASURED_MS = 24;

/** CPU time of this thread that one run takes, in milliseconds, of as many as take `leastMs` together; errors are results. */
export async function costOf(run: () => unknown, leastMs = MEASURED_MS): Promise<number> {
  const before = process.threadCpuUsage();
  for (let runs = 1; ; runs++) {
    try {
      await run();
    } catch {
      // a refusal, which costs what it costs
    }
    const { user, system } = process.threadCpuUsage(before);
    const totalMs = (user + system) / 1000;
    if (totalMs >= leastMs) return totalMs / runs;
  }
}

/**
 * What eight times the length may cost: as much more, and four times that for the noise of caches and collections, which took up to
 * 24 times of long texts on a loaded machine.
 */
const MOST_GROWTH = 8 * 4;

/** Whatever grows to this much at its bound holds up nothing; of less, memory that is touched first and caches are most. */
const NEGLIGIBLE_MS = 10;

const ATTEMPTS = 5;

/** How the cost of reading grows from a text, or anything else, to one of eight times its length. */
export interface Growth {
  readonly isLinear: boolean;
  /** Of the longer one, at the best of several attempts. */
  readonly costMs: number;
  readonly ratio: number;
}

/**
 * Compares the costs of two texts, each the least of several attempts by turns: what disturbs only ever adds. It goes on
 * until the growth is good, so that noise alone can never make it bad, while what grows with the square stays at 64.
 */
export async function growthOf<T>(
  read: (of: T) => unknown,
  { short, long }: { readonly short: T; readonly long: T },
): Promise<Growth> {
  let [shortMs, costMs] = [Number.POSITIVE_INFINITY, await costOf(() => read(long), 0)];
  if (costMs <= NEGLIGIBLE_MS / 2) return { isLinear: true, costMs, ratio: 0 }; // far enough from it for a single run
  if (costMs < MEASURED_MS) costMs = await costOf(() => read(long));
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (costMs <= NEGLIGIBLE_MS) return { isLinear: true, costMs, ratio: 0 };
    shortMs = Math.min(shortMs, await costOf(() => read(short)));
    if (costMs <= MOST_GROWTH * shortMs) break;
    costMs = Math.min(costMs, await costOf(() => read(long)));
  }
  const ratio = costMs / shortMs;
  return { isLinear: ratio <= MOST_GROWTH, costMs, ratio };
}
