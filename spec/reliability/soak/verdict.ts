import type { Sample } from './sample.ts';

/** By then, every kind of failure has happened, caches are full, and V8 has compiled hot functions. */
export const WARM_AFTER_SECONDS = 150;

/** Maximum growth of memory from the first to the second half of the judged time. */
export const TOLERATED_GROWTH = 1.15;

/** Assessment of memory after warm-up. */
export interface Verdict {
  /** Median of the second half divided by that of the first; `undefined` if there are too few samples. */
  readonly residentGrowth: number | undefined;
  readonly heapGrowth: number | undefined;
  /** Descriptions of what is wrong. */
  readonly complaints: readonly string[];
}

/** Judges memory after warm-up. */
export function judgeMemory(samples: readonly Sample[]): Verdict {
  const warm = samples.filter(({ atSeconds }) => atSeconds >= WARM_AFTER_SECONDS);
  const half = Math.floor(warm.length / 2);
  const [first, second] = [warm.slice(0, half), warm.slice(half)];
  const growthOf = (what: keyof Sample) =>
    half === 0 ? undefined : median(second, what) / median(first, what);
  const residentGrowth = growthOf('residentMebibytes');
  const complaints =
    residentGrowth !== undefined && residentGrowth > TOLERATED_GROWTH
      ? [
          `Resident memory grew from ${Math.round(median(first, 'residentMebibytes'))} MiB to ` +
            `${Math.round(median(second, 'residentMebibytes'))} MiB between the halves of the time after the first ` +
            `${WARM_AFTER_SECONDS} s, by ${residentGrowth.toFixed(2)}; ${TOLERATED_GROWTH} is tolerated`,
        ]
      : [];
  return { residentGrowth, heapGrowth: growthOf('heapMebibytes'), complaints };
}

function median(samples: readonly Sample[], what: keyof Sample): number {
  const values = samples.map((sample) => sample[what]).toSorted((a, b) => a - b);
  return values[Math.floor(values.length / 2)] ?? Number.NaN;
}
