import { TimeZone } from '#lib/schedule/time-zone.ts';
import type { RepeatingEntry, ScalingSchedule, ScheduleEntry } from './scaling-schedule.ts';

/** Defaults of schedules. */
export interface ScheduleDefaults {
  readonly windowMs: number;
  /** Number of steps of a ramp. */
  readonly rampSteps: number;
  /** Of the IANA database. */
  readonly timeZone: string;
}

/** The value of a schedule at one time. */
interface ScheduledValue {
  /** On a ramp, a part of it; 0 when no entry is active. */
  readonly value: number;
  /** The highest value of all active entries, without ramps. */
  readonly wholeValue: number;
  /** Whether an entry is active, including its ramps. */
  readonly isActive: boolean;
}

/** A time range of an entry; its end is excluded. */
interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

const DAY_MS = 86_400_000;
/** Days of the week repeat: further days have no further effect. */
const MAX_DAYS = 8;

/** The highest value of all entries, with ramps in steps before and after each. */
export function scheduledValue(
  { entries, windowMs: own }: Pick<ScalingSchedule, 'entries' | 'windowMs'>,
  nowMs: number,
  defaults: ScheduleDefaults,
): ScheduledValue {
  const windowMs = own ?? defaults.windowMs;
  let [value, wholeValue, isActive] = [0, 0, false];
  for (const entry of entries) {
    for (const span of spansNear(entry, nowMs, { windowMs, defaults })) {
      const share = shareAt(span, nowMs, { windowMs, rampSteps: defaults.rampSteps });
      if (share === undefined) continue;
      isActive = true;
      value = Math.max(value, Math.trunc((share * entry.value) / defaults.rampSteps));
      wholeValue = Math.max(wholeValue, entry.value);
    }
  }
  return { value, wholeValue, isActive };
}

/** Number of steps of a ramp that count; `undefined` outside the entry and its ramps. */
function shareAt(
  { startMs, endMs }: Span,
  nowMs: number,
  { windowMs, rampSteps }: { readonly windowMs: number; readonly rampSteps: number },
): number | undefined {
  if (nowMs < startMs - windowMs || nowMs >= endMs + windowMs) return undefined;
  if (nowMs < startMs) return Math.floor(((nowMs - (startMs - windowMs)) / windowMs) * rampSteps);
  if (nowMs < endMs) return rampSteps;
  return Math.floor(((endMs + windowMs - nowMs) / windowMs) * rampSteps);
}

function spansNear(
  entry: ScheduleEntry,
  nowMs: number,
  { windowMs, defaults }: { readonly windowMs: number; readonly defaults: ScheduleDefaults },
): readonly Span[] {
  if (entry.type === 'OneTime') {
    const { startMs, endMs = startMs, durationMs } = entry;
    return [{ startMs, endMs: Math.max(endMs, startMs + durationMs) }];
  }
  const zone = TimeZone.named(entry.timeZone ?? defaults.timeZone);
  const civilMs = zone.civilMs(nowMs);
  const today = civilMs - (((civilMs % DAY_MS) + DAY_MS) % DAY_MS);
  // A span lasts for its duration, and ends at most a day after its end time; ramps precede and follow it.
  const back = Math.min(MAX_DAYS, 2 + Math.ceil((entry.durationMs + windowMs) / DAY_MS));
  const ahead = Math.min(MAX_DAYS, 1 + Math.ceil(windowMs / DAY_MS));
  const spans: Span[] = [];
  for (let day = -back; day <= ahead; day++) {
    const midnight = today + day * DAY_MS;
    if (entry.days.has(new Date(midnight).getUTCDay())) spans.push(spanOn(midnight, entry, zone));
  }
  return spans;
}

/** An end before the start is on the next day. */
function spanOn(
  midnight: number,
  { startOfDayMs, endOfDayMs = startOfDayMs, durationMs }: RepeatingEntry,
  zone: TimeZone,
): Span {
  const startMs = momentOf(midnight + startOfDayMs, zone);
  const endDay = endOfDayMs < startOfDayMs ? midnight + DAY_MS : midnight;
  return { startMs, endMs: Math.max(momentOf(endDay + endOfDayMs, zone), startMs + durationMs) };
}

/** When the wall clock first shows a time; right after the gap if it never does. */
function momentOf(civilMs: number, zone: TimeZone): number {
  const before = civilMs - zone.segmentAt(civilMs - DAY_MS).offsetMs;
  if (zone.civilMs(before) === civilMs) return before;
  const after = civilMs - zone.segmentAt(civilMs + DAY_MS).offsetMs;
  return zone.civilMs(after) === civilMs ? after : before;
}
