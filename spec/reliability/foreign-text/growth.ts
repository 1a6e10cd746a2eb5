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

/** Whatever grows to this much at its bound delays nothing; of less, memory that is touched first and caches are most. */
const NEGLIGIBLE_MS = 10;

const ATTEMPTS = 7;

/** How the cost of reading grows from short texts, or anything else, to one as long as all of them. */
export interface Growth {
  readonly isLinear: boolean;
  /** Of the long one, at the best of several attempts. */
  readonly costMs: number;
  /** That, as a multiple of what all short ones cost. */
  readonly ratio: number;
}

/**
 * Compares the CPU time of one long text with that of `parts` short ones of as many characters altogether. Results are retained
 * until all are read, so both take the same memory: what caches, page faults and collections cost beside other load, they cost
 * both. Each is the least of several alternating attempts, since load only ever adds; they end once the growth is linear, so
 * noise alone cannot make it worse. The long one may cost the square root of `parts` as much: linear time is at 1, the square
 * of the length at `parts`, and this is as far from the one as from the other.
 */
export async function growthOf<T>(
  read: (of: T) => unknown,
  { short, long, parts }: { readonly short: T; readonly long: T; readonly parts: number },
): Promise<Growth> {
  const maxRatio = Math.sqrt(parts);
  let [partsMs, costMs] = [Number.POSITIVE_INFINITY, await costOf(() => read(long), 0)];
  if (costMs <= NEGLIGIBLE_MS / 2) return { isLinear: true, costMs, ratio: 0 }; // far enough from it for a single run
  if (costMs < MEASURED_MS) costMs = await costOf(() => read(long));
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (costMs <= NEGLIGIBLE_MS) return { isLinear: true, costMs, ratio: 0 };
    partsMs = Math.min(partsMs, await costOf(() => readParts(() => read(short), parts)));
    if (costMs <= maxRatio * partsMs) break;
    costMs = Math.min(costMs, await costOf(() => read(long)));
  }
  const ratio = costMs / partsMs;
  return { isLinear: ratio <= maxRatio, costMs, ratio };
}

async function readParts(read: () => unknown, parts: number): Promise<readonly unknown[]> {
  const results: unknown[] = [];
  for (let part = 0; part < parts; part++) {
    try {
      results.push(await read());
    } catch (error) {
      results.push(error);
    }
  }
  return results;
}
