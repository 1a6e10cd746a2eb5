import { type DayFields, needsBothDays } from './civil-calendar.ts';
import { parseFields } from './parse-schedule.ts';
import type { Schedule } from './schedule.ts';
import { ScheduleError } from './schedule-error.ts';
import type { TimeZone } from './time-zone.ts';

/** Whether a day is excluded, by its midnight in civil time. */
type DayTest = (civilDay: Date) => boolean;

const DAY_MS = 86_400_000;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const LONGEST_TEXT = 256;
const SHOWN_TEXT = 80;
/** A schedule all of whose activations are excluded for five years is given up. */
const MOST_MS = 5 * 366 * DAY_MS;

/**
 * Takes the activations on some calendar days out of a schedule.
 *
 * @param dates days as `2026-12-25`, or patterns of days: day of month, month and day of week as a schedule has them, by
 *   themselves (`24-26 DEC *`) or as the last three fields of a schedule, whose time of day then counts for nothing
 * @throws ScheduleError when one cannot be read
 */
export function withoutDates(schedule: Schedule, dates: readonly string[], zone: TimeZone): Schedule {
  if (dates.length === 0) return schedule;
  const tests = dates.map(parseDate);
  const isExcluded = (dayMs: number) => {
    const day = new Date(dayMs);
    return tests.some((test) => test(day));
  };
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

function parseDate(text: string): DayTest {
  try {
    if (text.length > LONGEST_TEXT) throw new ScheduleError(`it is longer than ${LONGEST_TEXT} characters`);
    const trimmed = text.trim();
    const date = DATE.exec(trimmed);
    return date ? calendarDay(date) : dayPattern(trimmed);
  } catch (cause) {
    if (!(cause instanceof ScheduleError)) throw cause;
    const shown = JSON.stringify(text.length > SHOWN_TEXT ? `${text.slice(0, SHOWN_TEXT)}…` : text);
    throw new ScheduleError(`Cannot read excluded date ${shown}: ${cause.message}`, { cause });
  }
}

function calendarDay([text, year, month, day]: RegExpExecArray): DayTest {
  const dayMs = Date.UTC(Number(year), Number(month) - 1, Number(day));
  if (new Date(dayMs).toISOString().slice(0, 10) !== text) throw new ScheduleError('there is no such day');
  return (civilDay) => civilDay.getTime() === dayMs;
}

function dayPattern(text: string): DayTest {
  const isDaysAlone = text.split(/\s+/).length === 3;
  const fields: DayFields = parseFields(isDaysAlone ? `* * * ${text}` : text);
  const { dayOfMonth, month, dayOfWeek } = fields;
  const needsBoth = needsBothDays(fields);
  return (civilDay) => {
    if (!month.values.includes(civilDay.getUTCMonth() + 1)) return false;
    const isDate = dayOfMonth.values.includes(civilDay.getUTCDate());
    const isWeekday = dayOfWeek.values.includes(civilDay.getUTCDay());
    return needsBoth ? isDate && isWeekday : isDate || isWeekday;
  };
}
