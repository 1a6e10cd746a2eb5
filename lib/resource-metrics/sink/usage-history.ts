import type { MetricsPoint, ResponseTimes } from '#lib/resource-metrics/metrics-batch.ts';
import type { ReadingResponse } from './reading-response.ts';
import { type CounterReading, intervalBetween } from './sample-interval.ts';
import type { MeasuredUsage } from './snapshot.ts';

/** The readings since a start of a container or node, and the usage computed from them. Immutable. */
export interface UsageHistory {
  /** Of the container or the node. */
  readonly name: string;
  /** Oldest first: the one that the newest is compared with, and those since. */
  readonly readings: readonly CounterReading[];
  /** As reported with the newest reading. */
  readonly startedAtMs: number | undefined;
  /** `undefined` if the readings do not suffice. */
  readonly usage: MeasuredUsage | undefined;
}

/** What the readings of all containers of a response, or that of its node, have in common. */
export interface ReadingContext {
  readonly response: ReadingResponse;
  /**
   * Time since the previous request to the node; containers that started before it may have been in that response.
   * The resolution for a first request, or 0 if start times are not reliable.
   */
  readonly sincePreviousScrapeMs: number;
  readonly minWindowMs: number;
  /** Whether the counters are never read on demand: that of a node. */
  readonly isCached?: boolean;
}

/** Kubelets sample every 10 to 20 s, less often under load. */
const MAX_SAMPLE_AGE_MS = 30_000;

/** Some kubelets recompute start times for each reading, and timestamps are rounded to seconds. */
const START_TOLERANCE_MS = 1000;

/** Two are usual. More are only needed while they are closer together than the minimum window. */
const MAX_READINGS = 4;

/** A kubelet that returns the same sample for this long has stopped sampling. */
const STUCK_SAMPLE_MS = 300_000;

/**
 * Adds a reading to a history.
 *
 * A reading with the newest timestamp is a repeated sample and changes nothing, unless it is stuck. Readings before a
 * restart (a new start time at or after their timestamp, or a lower counter) or a step of the kubelet's clock are
 * discarded.
 */
export function nextHistory(
  history: UsageHistory | undefined,
  point: MetricsPoint,
  context: ReadingContext,
): UsageHistory {
  const newest = history?.readings.at(-1);
  if (history && newest?.takenAtMs === point.takenAtMs && !isCounterReset(newest, point)) {
    return history.usage && isStuck(history, context.response.receivedAtMs)
      ? { ...history, usage: undefined }
      : history;
  }
  const { response } = context;
  const isStepped = history !== undefined && clockWasStepped(history, point, response);
  const retained = history && !isStepped ? readingsSinceStart(history, point) : [];
  const { takenAtMs, cpuCoreNanoseconds } = point;
  const reading = { takenAtMs, cpuCoreNanoseconds, response };
  const earlier = findEarlier(retained, reading, { nanocores: point.cpuUsageNanocores, ...context });
  return {
    name: history?.name ?? point.name,
    readings: limitReadings([...retained.slice(earlier?.index ?? 0), reading]),
    startedAtMs: point.startedAtMs,
    // After a clock was set back, old containers may seem to have just started.
    usage: earlier
      ? measure(point, earlier)
      : retained.length === 0 && !isStepped
        ? measureSinceStart(point, context)
        : undefined,
  };
}

/** Whether the newest reading was first received so long ago that the kubelet must have stopped sampling. */
export function isStuck({ readings }: Pick<UsageHistory, 'readings'>, receivedAtMs: number): boolean {
  const newest = readings.at(-1);
  return newest !== undefined && receivedAtMs - newest.response.receivedAtMs >= STUCK_SAMPLE_MS;
}

/** A reading to compare the newest one with, and the time between them. */
interface EarlierReading {
  readonly index: number;
  readonly cpuCoreNanoseconds: number;
  readonly windowMs: number;
}

/** Finds the last reading that is at least a minimum window older than a new one, give or take a late cycle. */
function findEarlier(
  readings: readonly CounterReading[],
  newest: CounterReading,
  { minWindowMs, ...options }: ReadingContext & { readonly nanocores: number | undefined },
): EarlierReading | undefined {
  for (let index = readings.length - 1; index >= 0; index--) {
    const reading = readings[index] as CounterReading;
    const windowMs = intervalBetween(reading, newest, options);
    if (windowMs < minWindowMs - LATENESS_MS) continue;
    return { index, cpuCoreNanoseconds: reading.cpuCoreNanoseconds, windowMs };
  }
  return undefined;
}

function measure(
  point: MetricsPoint,
  earlier: Pick<EarlierReading, 'cpuCoreNanoseconds' | 'windowMs'>,
): MeasuredUsage | undefined {
  const { windowMs } = earlier;
  const cpuNanocores = cpuOver(point.cpuCoreNanoseconds - earlier.cpuCoreNanoseconds, windowMs);
  if (cpuNanocores === undefined) return undefined;
  return {
    name: point.name,
    timestampMs: point.takenAtMs,
    windowMs,
    cpuNanocores,
    memoryBytes: point.memoryBytes,
    ...(point.extraBytes && { extraBytes: point.extraBytes }),
  };
}

/**
 * Averages over the age of a container or node that started since the previous scrape. The average since an earlier
 * start would not show the present load, and one over a very short time is not representative.
 */
function measureSinceStart(point: MetricsPoint, context: ReadingContext): MeasuredUsage | undefined {
  if (point.startedAtMs === undefined) return undefined;
  const windowMs = point.takenAtMs - point.startedAtMs;
  if (windowMs < context.minWindowMs || windowMs > context.sincePreviousScrapeMs) return undefined;
  return measure(point, { cpuCoreNanoseconds: 0, windowMs });
}

function readingsSinceStart(history: UsageHistory, point: MetricsPoint): readonly CounterReading[] {
  const { readings } = history;
  const newest = readings.at(-1);
  if (newest && isCounterReset(newest, point)) return [];
  const startedAtMs = findNewStart(history, point);
  return startedAtMs === undefined ? readings : readings.filter(({ takenAtMs }) => takenAtMs > startedAtMs);
}

/** Finds the time of a restart. A start after the reading is due to a clock that was set back, and is ignored. */
function findNewStart(history: UsageHistory, { startedAtMs, takenAtMs }: MetricsPoint): number | undefined {
  if (startedAtMs === undefined || startedAtMs > takenAtMs) return undefined;
  const isSameStart = Math.abs(startedAtMs - (history.startedAtMs ?? Number.NaN)) <= START_TOLERANCE_MS;
  return isSameStart ? undefined : startedAtMs;
}

function isCounterReset(newest: CounterReading, point: MetricsPoint): boolean {
  return point.cpuCoreNanoseconds < newest.cpuCoreNanoseconds;
}

/**
 * Whether the time between two readings by the kubelet's clock is impossible by the local clock: each was taken
 * before the end of its response, and at most {@link MAX_SAMPLE_AGE_MS} before its request.
 */
function clockWasStepped({ readings }: UsageHistory, point: MetricsPoint, response: ResponseTimes): boolean {
  const newest = readings.at(-1);
  if (!newest) return false;
  const elapsedMs = point.takenAtMs - newest.takenAtMs;
  const minMs = response.requestedAtMs - MAX_SAMPLE_AGE_MS - newest.response.receivedAtMs;
  const maxMs = response.receivedAtMs - (newest.response.requestedAtMs - MAX_SAMPLE_AGE_MS);
  return elapsedMs < Math.max(0, minMs) || elapsedMs > maxMs;
}

/** Removes the reading closest to its neighbors if there are too many, as with a kubelet's slow clock. */
function limitReadings(readings: readonly CounterReading[]): readonly CounterReading[] {
  return readings.length > MAX_READINGS ? readings.toSpliced(findMostCrowded(readings), 1) : readings;
}

/** @returns the index of the reading closest to its neighbors; never the oldest or newest */
function findMostCrowded(readings: readonly CounterReading[]): number {
  const spaceAround = (index: number) =>
    (readings[index + 1]?.takenAtMs ?? 0) - (readings[index - 1]?.takenAtMs ?? 0);
  let crowded = 1;
  for (let index = 2; index < readings.length - 1; index++)
    if (spaceAround(index) < spaceAround(crowded)) crowded = index;
  return crowded;
}

/** A shorter window is not representative of the load, and timestamps may be whole seconds. */
const MIN_WINDOW_MS = 10_000;

/** With a shorter resolution, which requires precise timestamps, a window is one cycle. */
export function minWindow(resolutionMs: number): number {
  return Math.min(resolutionMs, MIN_WINDOW_MS);
}

/** A window may be shorter by this, because the earlier cycle started late. */
const LATENESS_MS = 500;

/**
 * Computes a rate in whole nanocores, rounded down as in metrics-server.
 *
 * @param usedCoreNanoseconds difference of two readings of a counter
 * @returns `undefined` if the counter decreased: the container restarted in between
 */
export function cpuOver(usedCoreNanoseconds: number, windowMs: number): number | undefined {
  return usedCoreNanoseconds < 0 ? undefined : Math.floor(usedCoreNanoseconds / (windowMs / 1000));
}
