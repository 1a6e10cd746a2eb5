/** Kernels count CPU time in steps of 4 ms; a measurement takes several of these. */
const MEASURED_MS = 24;

/** CPU time of this thread per run, in milliseconds, over enough runs to take `minMs` together; errors are results. */
export async function costOf(run: () => unknown, minMs = MEASURED_MS): Promise<number> {
  const before = process.threadCpuUsage();
  for (let runs = 1; ; runs++) {
    try {
      await run();
    } catch {
      // a rejection, whose cost counts
    }
    const { user, system } = process.threadCpuUsage(before);
    const totalMs = (user + system) / 1000;
    if (totalMs >= minMs) return totalMs / runs;
  }
}

/** At this cost at its bound, a read delays nothing; below it, first memory accesses and cold caches dominate the measurement. */
const NEGLIGIBLE_MS = 10;

const ATTEMPTS = 7;

/** Growth of the cost from short inputs to one as long as all of them together. */
export interface Growth {
  readonly isLinear: boolean;
  /** Cost of the long input, the minimum of several attempts. */
  readonly costMs: number;
  /** The cost as a multiple of that of all short inputs. */
  readonly ratio: number;
}

/**
 * Compares the CPU time of one long text with that of `parts` short ones of the same total length. Results are retained
 * until all are read, so that both allocate the same memory and have the same cost of caches, page faults and collections
 * under load. Each cost is the minimum of several alternating attempts, since load only increases it; they end once the
 * growth is linear, so that noise alone cannot increase it. The limit of the ratio is the square root of `parts`: linear
 * time has 1 and quadratic time has `parts`, and the limit has the same factor to both.
 */
export async function growthOf<T>(
  read: (of: T) => unknown,
  { short, long, parts }: { readonly short: T; readonly long: T; readonly parts: number },
): Promise<Growth> {
  const maxRatio = Math.sqrt(parts);
  let [partsMs, costMs] = [Number.POSITIVE_INFINITY, await costOf(() => read(long), 0)];
  if (costMs <= NEGLIGIBLE_MS / 2) return { isLinear: true, costMs, ratio: 0 }; // a single run is enough far below the limit
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
