import type { Sample } from './sample.ts';

/** By then every kind of failure has happened, caches are full, and V8 has compiled what is called often. */
export const WARM_AFTER_SECONDS = 150;

/** Memory of the second half of the time judged may lie this much above that of the first. */
export const TOLERATED_GROWTH = 1.15;

/** How memory fared once the server was warm. */
export interface Verdict {
  /** Medians of the second half by those of the first; `undefined` where there are too few samples to say. */
  readonly residentGrowth: number | undefined;
  readonly heapGrowth: number | undefined;
  /** What is wrong, in words. */
  readonly complaints: readonly string[];
}

/** Judges memory from when the server was warm. */
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
