import type { MetricsBatch, ResponseTimes, StampResolution } from '#lib/resource-metrics/metrics-batch.ts';

/** What the readings of a response have in common. Immutable. */
export interface ReadingResponse extends ResponseTimes {
  readonly stampResolution: StampResolution;
  /**
   * Bounds of how far the kubelet's clock is ahead of the local one, if all containers were read on demand. They
   * contradict each other only if those of the response alone do.
   */
  readonly minLeadMs: number;
  readonly maxLeadMs: number;
  /** Request of the first response with which the bounds are consistent. */
  readonly consistentSinceMs: number;
  /** Number of samples that are consistent with the bounds, of containers in responses that were not slow. */
  readonly consistentSamples: number;
}

type ClockLead = Pick<ReadingResponse, 'minLeadMs' | 'maxLeadMs'>;

/** Timestamps are cut to this precision, so a sample is up to so much later than its timestamp. */
export const STAMP_MS: Readonly<Record<StampResolution, number>> = { second: 1000, millisecond: 1 };

/** The most by which NTP slews a clock. */
const MAX_DRIFT = 500e-6;

/** Of timers, and of a runtime that returns the stats of some milliseconds ago. */
const TIMING_TOLERANCE_MS = 20;

/** A slow response does not show whether samples were taken while it was awaited. */
const MAX_RESPONSE_MS = 1000;

/**
 * Fewer samples may be consistent by chance: a sample of a cache, which is up to 20 s old, is consistent in about one
 * of ten cases.
 */
const MIN_CONSISTENT_SAMPLES = 6;

/**
 * Describes a response, and whether it and those before are consistent with a kubelet that reads containers when it is
 * requested: whether its clock can be ahead of the local one by a time for which all containers were read after the
 * request of their response, and no timestamp was in the future when the response began.
 *
 * With each response, the bounds of this time become narrower, except for the drift of clocks. Samples of a cache
 * contradict them soon, since each container is sampled at another time.
 */
export function describeResponse(
  previous: ReadingResponse | undefined,
  { node, pods, stampResolution, ...batch }: MetricsBatch,
): ReadingResponse {
  const { requestedAtMs, respondedAtMs, receivedAtMs } = batch;
  let newestMs = node?.takenAtMs ?? Number.NEGATIVE_INFINITY;
  let oldestMs = Number.POSITIVE_INFINITY;
  let samples = 0;
  for (const { containers } of pods) {
    for (const { takenAtMs } of containers) {
      newestMs = Math.max(newestMs, takenAtMs);
      oldestMs = Math.min(oldestMs, takenAtMs);
      samples++;
    }
  }
  const own = {
    minLeadMs: newestMs - respondedAtMs - TIMING_TOLERANCE_MS,
    maxLeadMs: oldestMs + STAMP_MS[stampResolution] - requestedAtMs + TIMING_TOLERANCE_MS,
  };
  const times = { requestedAtMs, respondedAtMs, receivedAtMs, stampResolution };
  const evidence = respondedAtMs - requestedAtMs > MAX_RESPONSE_MS ? 0 : samples;
  const narrowed = previous && narrow(previous, own, requestedAtMs);
  if (!narrowed) {
    return { ...times, ...own, consistentSinceMs: requestedAtMs, consistentSamples: evidence };
  }
  const consistentSamples = previous.consistentSamples + evidence;
  return { ...times, ...narrowed, consistentSinceMs: previous.consistentSinceMs, consistentSamples };
}

/** @returns `undefined` if the two bounds contradict each other, or the previous ones do */
function narrow(previous: ReadingResponse, own: ClockLead, nowMs: number): ClockLead | undefined {
  if (showsCache(previous)) return undefined;
  const driftMs = (nowMs - previous.requestedAtMs) * MAX_DRIFT;
  const minLeadMs = Math.max(previous.minLeadMs - driftMs, own.minLeadMs);
  const maxLeadMs = Math.min(previous.maxLeadMs + driftMs, own.maxLeadMs);
  return minLeadMs <= maxLeadMs ? { minLeadMs, maxLeadMs } : undefined;
}

/** Whether a response alone shows that samples are cached: one is older than the response took. */
export function showsCache({ minLeadMs, maxLeadMs }: ClockLead): boolean {
  return minLeadMs > maxLeadMs;
}

/** Whether the containers of two responses were read when these were requested. */
export function isReadOnDemand(earlier: ReadingResponse, later: ReadingResponse): boolean {
  return (
    later.consistentSamples >= MIN_CONSISTENT_SAMPLES && earlier.requestedAtMs >= later.consistentSinceMs
  );
}
