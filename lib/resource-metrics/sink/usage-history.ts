import type { ExtraBytes, MetricsPoint, StampResolution } from '#lib/resource-metrics/metrics-batch.ts';

/** What a container or a node uses, over the window that ends at the timestamp. */
export interface MeasuredUsage {
  readonly name: string;
  /** By the kubelet's clock. */
  readonly timestampMs: number;
  readonly windowMs: number;
  readonly cpuNanocores: number;
  /** Of the end of the window. */
  readonly memoryBytes: number;
  readonly extraBytes?: ExtraBytes | undefined;
}

/** The readings of one life of a container or node, and what they amount to. Immutable. */
export interface UsageHistory {
  /** Of the container or the node. */
  readonly name: string;
  /** Oldest first; no older than a coming reading may need. */
  readonly readings: readonly CounterReading[];
  /** When the life began, by the newest reading. */
  readonly startedAtMs: number | undefined;
  /** The circumstances of the newest reading, when it was read first. */
  readonly context: Pick<ReadingContext, 'requestedAtMs' | 'receivedAtMs'>;
  /** `undefined` until the readings suffice. */
  readonly usage: MeasuredUsage | undefined;
}

/** The circumstances of a reading, which all of a response share. */
export interface ReadingContext {
  /** When the response was asked for and when it had come in, on our monotonic clock. */
  readonly requestedAtMs: number;
  readonly receivedAtMs: number;
  /**
   * Time since the node was asked before, and may have responded without what started then; the resolution, if it was not,
   * or 0 where starts are not to be trusted.
   */
  readonly sincePreviousScrapeMs: number;
  readonly stampResolution: StampResolution;
}

/** Kubelets sample every 10 to 20 s, and busy ones later; what they respond with is no older. */
const OLDEST_SAMPLE_MS = 30_000;

/** Some kubelets work out again at every reading when a life began, and stamps are rounded to seconds. */
const FLAPPING_START_MS = 1000;

/** As many as a kubelet that samples every 10 s has in the longest window, twice over. */
const MOST_READINGS = 8;

/** A kubelet that has given one and the same sample for this long has stopped sampling, and the sample says little of now. */
const STUCK_SAMPLE_MS = 300_000;

/**
 * The history with one more reading.
 *
 * A stamp that is held already is a sample read again and changes nothing, unless it is stuck. Readings of an earlier life (a new start
 * is at or after their stamp, or the counter fell) and those from before a step of the kubelet's clock are discarded.
 */
export function nextHistory(
  history: UsageHistory | undefined,
  point: MetricsPoint,
  context: ReadingContext,
): UsageHistory {
  const newest = history?.readings.at(-1);
  if (history && newest?.takenAtMs === point.takenAtMs && !fell(newest, point)) {
    return history.usage && isStuck(history, context) ? { ...history, usage: undefined } : history;
  }
  const isStepped = history !== undefined && clockWasStepped(history, point, context);
  const held = history && !isStepped ? readingsOfLife(history, point) : [];
  const reading = { takenAtMs: point.takenAtMs, cpuCoreNanoseconds: point.cpuCoreNanoseconds };
  const readings = [...held, reading];
  // By a clock that was set back, what has run for hours may seem to have started just now.
  const birth = readings.length === 1 && !isStepped ? birthOf(point, context) : undefined;
  const earlier = earlierReading(readings, context.stampResolution) ?? birth;
  return {
    name: history?.name ?? point.name,
    readings: neededReadings(readings),
    startedAtMs: point.startedAtMs,
    context,
    usage: earlier && measure(earlier, point),
  };
}

/** Whether the newest reading was read first so long ago that nobody can have sampled since. */
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
 * The start of a life that began since the node's previous scrape, as a reading of zero. An older container's
 * average since its start would say little of now, a younger one's too little of anything.
 */
function birthOf(point: MetricsPoint, context: ReadingContext): CounterReading | undefined {
  if (point.startedAtMs === undefined) return undefined;
  const ageMs = point.takenAtMs - point.startedAtMs;
  if (ageMs < SHORTEST_WINDOW_MS || ageMs > context.sincePreviousScrapeMs) return undefined;
  return { takenAtMs: point.startedAtMs, cpuCoreNanoseconds: 0 };
}

function readingsOfLife(history: UsageHistory, point: MetricsPoint): readonly CounterReading[] {
  const { readings } = history;
  const newest = readings.at(-1);
  if (newest && fell(newest, point)) return [];
  const startedAtMs = newStart(history, point);
  return startedAtMs === undefined ? readings : readings.filter(({ takenAtMs }) => takenAtMs > startedAtMs);
}

/** The start of another life; a start after the reading itself is of a clock that was set back since, and tells nothing. */
function newStart(history: UsageHistory, { startedAtMs, takenAtMs }: MetricsPoint): number | undefined {
  if (startedAtMs === undefined || startedAtMs > takenAtMs) return undefined;
  const isKnown = Math.abs(startedAtMs - (history.startedAtMs ?? Number.NaN)) <= FLAPPING_START_MS;
  return isKnown ? undefined : startedAtMs;
}

function fell(newest: CounterReading, point: MetricsPoint): boolean {
  return point.cpuCoreNanoseconds < newest.cpuCoreNanoseconds;
}

/**
 * Whether the kubelet's clock says that more or less time lies between two readings than can by ours: each was taken
 * before its response came in, and no longer before it was asked for than samples grow old.
 */
function clockWasStepped(history: UsageHistory, point: MetricsPoint, context: ReadingContext): boolean {
  const newest = history.readings.at(-1);
  if (!newest) return false;
  const byTheirClockMs = point.takenAtMs - newest.takenAtMs;
  const leastMs = context.requestedAtMs - OLDEST_SAMPLE_MS - history.context.receivedAtMs;
  const mostMs = context.receivedAtMs - (history.context.requestedAtMs - OLDEST_SAMPLE_MS);
  return byTheirClockMs < Math.max(0, leastMs) || byTheirClockMs > mostMs;
}

/**
 * The latest reading that lies the longest window back, and those since: no coming one needs an older. Of readings that follow one
 * another more closely than kubelets sample, as by a clock that creeps, those that are furthest apart are kept.
 */
function neededReadings(readings: readonly CounterReading[]): readonly CounterReading[] {
  const newest = readings.at(-1);
  const oldest = readings.findLastIndex(
    ({ takenAtMs }) => newest !== undefined && newest.takenAtMs - takenAtMs >= SECOND_STAMPS_WINDOW_MS,
  );
  const needed = oldest > 0 ? readings.slice(oldest) : readings;
  return needed.length > MOST_READINGS ? needed.toSpliced(mostCrowded(needed), 1) : needed;
}

/** The place of the reading that has its neighbours the closest; never the oldest or the newest. */
function mostCrowded(readings: readonly CounterReading[]): number {
  const spaceAround = (index: number) =>
    (readings[index + 1]?.takenAtMs ?? 0) - (readings[index - 1]?.takenAtMs ?? 0);
  let crowded = 1;
  for (let index = 2; index < readings.length - 1; index++)
    if (spaceAround(index) < spaceAround(crowded)) crowded = index;
  return crowded;
}

/** A lifetime CPU counter at one moment. */
export interface CounterReading {
  /** By the kubelet's clock. */
  readonly takenAtMs: number;
  readonly cpuCoreNanoseconds: number;
}

/** Two readings closer than this say too little: kubelets sample every 10 s and more. */
export const SHORTEST_WINDOW_MS = 10_000;

/** Over whole-second stamps a quotient may be off by 1/W, so W is to be this or more where it can be. */
const SECOND_STAMPS_WINDOW_MS = 30_000;

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
