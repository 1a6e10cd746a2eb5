import type { MetricsPoint, StampResolution } from '#lib/resource-metrics/metrics-batch.ts';
import type { MeasuredUsage } from './snapshot.ts';

/** The readings since a start of a container or node, and the usage computed from them. Immutable. */
export interface UsageHistory {
  /** Of the container or the node. */
  readonly name: string;
  /** Oldest first; limited to what later readings may need. */
  readonly readings: readonly CounterReading[];
  /** As reported with the newest reading. */
  readonly startedAtMs: number | undefined;
  /** When the newest reading was first received. */
  readonly context: Pick<ReadingContext, 'requestedAtMs' | 'receivedAtMs'>;
  /** `undefined` if the readings do not suffice. */
  readonly usage: MeasuredUsage | undefined;
}

/** Times shared by all readings of a response. */
export interface ReadingContext {
  /** Start of the request and end of the response, on the monotonic clock. */
  readonly requestedAtMs: number;
  readonly receivedAtMs: number;
  /**
   * Time since the previous request to the node; containers that started before it may have been in that response.
   * The resolution for a first request, or 0 if start times are not reliable.
   */
  readonly sincePreviousScrapeMs: number;
  readonly stampResolution: StampResolution;
}

/** Kubelets sample every 10 to 20 s, less often under load. */
const MAX_SAMPLE_AGE_MS = 30_000;

/** Some kubelets recompute start times for each reading, and timestamps are rounded to seconds. */
const START_TOLERANCE_MS = 1000;

/** Twice the readings of a kubelet that samples every 10 s in the longest window. */
const MAX_READINGS = 8;

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
    return history.usage && isStuck(history, context) ? { ...history, usage: undefined } : history;
  }
  const isStepped = history !== undefined && clockWasStepped(history, point, context);
  const retained = history && !isStepped ? readingsSinceStart(history, point) : [];
  const reading = { takenAtMs: point.takenAtMs, cpuCoreNanoseconds: point.cpuCoreNanoseconds };
  const readings = [...retained, reading];
  // After a clock was set back, old containers may seem to have just started.
  const start = readings.length === 1 && !isStepped ? readingAtStart(point, context) : undefined;
  const earlier = earlierReading(readings, context.stampResolution) ?? start;
  return {
    name: history?.name ?? point.name,
    readings: neededReadings(readings),
    startedAtMs: point.startedAtMs,
    context,
    usage: earlier && measure(earlier, point),
  };
}

/** Whether the newest reading was first received so long ago that the kubelet must have stopped sampling. */
export function isStuck(
  history: Pick<UsageHistory, 'context'>,
  { receivedAtMs }: Pick<ReadingContext, 'receivedAtMs'>,
): boolean {
  return receivedAtMs - history.context.receivedAtMs >= STUCK_SAMPLE_MS;
}

function measure(earlier: CounterReading, point: MetricsPoint): MeasuredUsage | undefined {
  const cpuNanocores = cpuBetween(earlier, point);
  if (cpuNanocores === undefined) return undefined;
  return {
    name: point.name,
    timestampMs: point.takenAtMs,
    windowMs: point.takenAtMs - earlier.takenAtMs,
    cpuNanocores,
    memoryBytes: point.memoryBytes,
    ...(point.extraBytes && { extraBytes: point.extraBytes }),
  };
}

/**
 * Returns a reading of zero at the start of a container or node that started since the previous scrape. The average
 * since an earlier start would say little about the present, and one over a very short time little at all.
 */
function readingAtStart(point: MetricsPoint, context: ReadingContext): CounterReading | undefined {
  if (point.startedAtMs === undefined) return undefined;
  const ageMs = point.takenAtMs - point.startedAtMs;
  if (ageMs < MIN_WINDOW_MS || ageMs > context.sincePreviousScrapeMs) return undefined;
  return { takenAtMs: point.startedAtMs, cpuCoreNanoseconds: 0 };
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
function clockWasStepped(history: UsageHistory, point: MetricsPoint, context: ReadingContext): boolean {
  const newest = history.readings.at(-1);
  if (!newest) return false;
  const elapsedMs = point.takenAtMs - newest.takenAtMs;
  const minMs = context.requestedAtMs - MAX_SAMPLE_AGE_MS - history.context.receivedAtMs;
  const maxMs = context.receivedAtMs - (history.context.requestedAtMs - MAX_SAMPLE_AGE_MS);
  return elapsedMs < Math.max(0, minMs) || elapsedMs > maxMs;
}

/**
 * Selects the readings that later ones may need: the last one that is at least the longest window old, and those
 * since. If they are too many, as with a slow clock, the one closest to its neighbors is dropped.
 */
function neededReadings(readings: readonly CounterReading[]): readonly CounterReading[] {
  const newest = readings.at(-1);
  const oldest = readings.findLastIndex(
    ({ takenAtMs }) => newest !== undefined && newest.takenAtMs - takenAtMs >= SECOND_STAMPS_WINDOW_MS,
  );
  const needed = oldest > 0 ? readings.slice(oldest) : readings;
  return needed.length > MAX_READINGS ? needed.toSpliced(findMostCrowded(needed), 1) : needed;
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

/** The value of a CPU counter at a time. */
export interface CounterReading {
  /** By the kubelet's clock. */
  readonly takenAtMs: number;
  readonly cpuCoreNanoseconds: number;
}

/** A shorter window says too little, since kubelets sample every 10 s or less often. */
export const MIN_WINDOW_MS = 10_000;

/** Timestamps in whole seconds cause a relative error of up to 1 s/window, so a longer window is preferred. */
const SECOND_STAMPS_WINDOW_MS = 30_000;

/**
 * Computes the CPU usage between two readings in whole nanocores, rounded down as in metrics-server.
 *
 * @returns `undefined` if the counter decreased: the container restarted in between
 */
export function cpuBetween(earlier: CounterReading, later: CounterReading): number | undefined {
  const usedCoreNanoseconds = later.cpuCoreNanoseconds - earlier.cpuCoreNanoseconds;
  const windowSeconds = (later.takenAtMs - earlier.takenAtMs) / 1000;
  return usedCoreNanoseconds < 0 ? undefined : Math.floor(usedCoreNanoseconds / windowSeconds);
}

/**
 * Finds the reading to compare the newest one with.
 *
 * With timestamps in whole seconds, the last one that is at least 30 s older, or else the first that is at least 10 s
 * older. With milliseconds, the last one that is at least 10 s older.
 *
 * @param readings since one start, oldest first
 */
export function earlierReading(
  readings: readonly CounterReading[],
  stampResolution: StampResolution,
): CounterReading | undefined {
  const newest = readings.at(-1);
  if (!newest) return undefined;
  const isOlderBy = (windowMs: number) => (reading: CounterReading) =>
    newest.takenAtMs - reading.takenAtMs >= windowMs;
  if (stampResolution === 'millisecond') return readings.findLast(isOlderBy(MIN_WINDOW_MS));
  return readings.findLast(isOlderBy(SECOND_STAMPS_WINDOW_MS)) ?? readings.find(isOlderBy(MIN_WINDOW_MS));
}
