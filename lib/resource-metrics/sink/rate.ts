import type { StampResolution } from '#lib/resource-metrics/metrics-batch.ts';

/** A lifetime CPU counter at one moment. */
export interface CounterReading {
  /** By the kubelet's clock. */
  readonly takenAtMs: number;
  readonly cpuCoreNanoseconds: number;
}

/** Two readings closer than this say too little: kubelets sample every 10 s and more. */
export const SHORTEST_WINDOW_MS = 10_000;

/** Over whole-second stamps a quotient may be off by 1/W, so W is to be this or more where it can be. */
export const SECOND_STAMPS_WINDOW_MS = 30_000;

/**
 * CPU used between two readings of one container life, in whole nanocores, rounded down as the reference does.
 *
 * @returns `undefined` when the counter fell: the container restarted in between.
 */
export function cpuBetween(earlier: CounterReading, later: CounterReading): number | undefined {
  const usedCoreNanoseconds = later.cpuCoreNanoseconds - earlier.cpuCoreNanoseconds;
  const windowSeconds = (later.takenAtMs - earlier.takenAtMs) / 1000;
  return usedCoreNanoseconds < 0 ? undefined : Math.floor(usedCoreNanoseconds / windowSeconds);
}

/**
 * Which reading the CPU of the newest one is measured against.
 *
 * With whole-second stamps the latest that lies 30 s or more back; while there is none, the earliest that
 * lies 10 s or more back. With millisecond stamps the latest that lies 10 s or more back.
 *
 * @param readings of one life, oldest first, the newest last
 */
export function earlierReading(
  readings: readonly CounterReading[],
  stampResolution: StampResolution,
): CounterReading | undefined {
  const newest = readings.at(-1);
  if (!newest) return undefined;
  const liesBack = (windowMs: number) => (reading: CounterReading) =>
    newest.takenAtMs - reading.takenAtMs >= windowMs;
  if (stampResolution === 'millisecond') return readings.findLast(liesBack(SHORTEST_WINDOW_MS));
  return readings.findLast(liesBack(SECOND_STAMPS_WINDOW_MS)) ?? readings.find(liesBack(SHORTEST_WINDOW_MS));
}
