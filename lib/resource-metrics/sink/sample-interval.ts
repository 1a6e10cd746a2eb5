import type { StampResolution } from '#lib/resource-metrics/metrics-batch.ts';
import { isReadOnDemand, type ReadingResponse, STAMP_MS, showsCache } from './reading-response.ts';

/** A sample of a CPU counter. */
export interface CounterReading {
  /** Its timestamp, by the kubelet's clock: at most one {@link StampResolution} earlier than the sample. */
  readonly takenAtMs: number;
  readonly cpuCoreNanoseconds: number;
  /** The first response that contained the sample. */
  readonly response: ReadingResponse;
}

/** Two sampling intervals of a kubelet take at least this (`--housekeeping-interval` is 10 s by default). */
const MIN_TWO_INTERVALS_MS = 20_000;

/** Two responses that take longer bound the time between their samples hardly better than timestamps do. */
const MAX_RESPONSES_MS = 1000;

/**
 * Computes the time between two samples of one counter, in whole milliseconds.
 *
 * Timestamps in whole seconds bound it to their difference ± 1 s. Within these bounds:
 *
 * - If the kubelet reads containers when it is requested (CRI), each sample was taken between the request and the
 *   first byte of its response. This bounds the time again, and the middle is returned. The error is at most half the
 *   sum of the two response times, which is at most 0.5 s: beyond, this does not apply.
 * - If the kubelet shows that it caches samples (its node; containers of cAdvisor), its own rate covers exactly the
 *   time since the sample before. The counter's difference divided by that rate is the time, if only one sampling
 *   interval fits into it. With a housekeeping interval below 10 s more may fit; the usage is then the kubelet's own
 *   rate over the last of them, and the time is up to 2 s off.
 * - Otherwise the middle of the bounds, which is the difference of timestamps, is returned. The error is below 1 s.
 *
 * @param options.nanocores the kubelet's own rate at the later sample; `undefined` if it reports none
 * @param options.isCached whether the counter is never read on demand: that of a node
 */
export function intervalBetween(
  earlier: CounterReading,
  later: CounterReading,
  { nanocores, isCached = false }: SampleOptions,
): number {
  const byStamps = boundByStamps(earlier, later);
  const isPrecise = byStamps.maxMs - byStamps.minMs <= 2 * STAMP_MS.millisecond;
  if (isPrecise) return later.takenAtMs - earlier.takenAtMs;
  if (!isCached && isReadOnDemand(earlier.response, later.response)) {
    return Math.round(middle(intersect(byStamps, boundByResponses(earlier.response, later.response))));
  }
  const isCacheShown = isCached || showsCache(earlier.response) || showsCache(later.response);
  const byRate = isCacheShown ? intervalByRate(earlier, later, { nanocores, byStamps }) : undefined;
  return Math.round(byRate ?? middle(byStamps));
}

interface SampleOptions {
  readonly nanocores: number | undefined;
  readonly isCached?: boolean;
}

interface Bounds {
  readonly minMs: number;
  readonly maxMs: number;
}

function boundByStamps(earlier: CounterReading, later: CounterReading): Bounds {
  const differenceMs = later.takenAtMs - earlier.takenAtMs;
  return {
    minMs: differenceMs - STAMP_MS[earlier.response.stampResolution],
    maxMs: differenceMs + STAMP_MS[later.response.stampResolution],
  };
}

/** Bounds the time between two samples that were taken between request and first byte; unbounded if slow. */
function boundByResponses(earlier: ReadingResponse, later: ReadingResponse): Bounds {
  const minMs = later.requestedAtMs - earlier.respondedAtMs;
  const maxMs = later.respondedAtMs - earlier.requestedAtMs;
  const isSlow = maxMs - minMs > MAX_RESPONSES_MS;
  return isSlow ? { minMs: Number.NEGATIVE_INFINITY, maxMs: Number.POSITIVE_INFINITY } : { minMs, maxMs };
}

/** May be empty by the drift of clocks; its middle is then between the two bounds. */
function intersect(one: Bounds, other: Bounds): Bounds {
  return { minMs: Math.max(one.minMs, other.minMs), maxMs: Math.min(one.maxMs, other.maxMs) };
}

function middle({ minMs, maxMs }: Bounds): number {
  return (minMs + maxMs) / 2;
}

/** @returns `undefined` if more than one sampling interval may fit, or the rate contradicts the timestamps */
function intervalByRate(
  earlier: CounterReading,
  later: CounterReading,
  { nanocores, byStamps }: { readonly nanocores: number | undefined; readonly byStamps: Bounds },
): number | undefined {
  if (nanocores === undefined || byStamps.maxMs > MIN_TWO_INTERVALS_MS) return undefined;
  const intervalMs = ((later.cpuCoreNanoseconds - earlier.cpuCoreNanoseconds) / nanocores) * 1000;
  return intervalMs > byStamps.minMs && intervalMs < byStamps.maxMs ? intervalMs : undefined;
}
