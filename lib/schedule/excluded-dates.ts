import { excludedDays } from './excluded-days.ts';
import type { Schedule } from './schedule.ts';
import type { TimeZone } from './time-zone.ts';

const DAY_MS = 86_400_000;
/** A schedule all of whose activations are excluded for five years is given up. */
const MOST_MS = 5 * 366 * DAY_MS;

/**
 * Takes the activations on some calendar days out of a schedule.
 *
 * @param dates days as `2026-12-25`, or patterns of days: day of month, month and day of week as a schedule has them, by
 *   themselves (`24-26 DEC *`) or as the last three fields of a schedule, whose time of day then counts for nothing
 * @throws ScheduleError when one cannot be read, or when there are too many
 */
export function withoutDates(schedule: Schedule, dates: readonly string[], zone: TimeZone): Schedule {
  if (dates.length === 0) return schedule;
  const isExcluded = excludedDays(dates);
  const dayOf = (atMs: number) => Math.floor(zone.civilMs(atMs) / DAY_MS) * DAY_MS;
  return {
    next(afterMs) {
      const lastMs = afterMs + MOST_MS;
      let atMs = schedule.next(afterMs);
      while (atMs !== undefined && atMs <= lastMs) {
        let dayMs = dayOf(atMs);
        if (!isExcluded(dayMs)) return atMs;
        do dayMs += DAY_MS;
        while (isExcluded(dayMs) && dayMs <= lastMs);
        atMs = schedule.next(startOf(dayMs, zone) - 1000);
      }
      return undefined;
    },
    previous(beforeMs) {
      const firstMs = beforeMs - MOST_MS;
      let atMs = schedule.previous(beforeMs);
      while (atMs !== undefined && atMs >= firstMs) {
        let dayMs = dayOf(atMs);
        if (!isExcluded(dayMs)) return atMs;
        do dayMs -= DAY_MS;
        while (isExcluded(dayMs) && dayMs >= firstMs);
        atMs = schedule.previous(startOf(dayMs + DAY_MS, zone));
      }
      return undefined;
    },
    delayMs: (atMs) => schedule.delayMs(atMs),
  };
}

/** The first moment at which the clock shows a day, or a later one where that day is skipped. */
function startOf(civilDayMs: number, zone: TimeZone): number {
  let segment = zone.segmentAt(civilDayMs - DAY_MS);
  while (segment.endMs + segment.offsetMs <= civilDayMs) segment = zone.segmentAt(segment.endMs);
  return Math.max(segment.startMs, civilDayMs - segment.offsetMs);
}
