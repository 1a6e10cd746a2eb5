import { memoizeByObject } from '#lib/cache/memoize.ts';
import { needsBothDays, parseFields } from './calendar-schedule.ts';
import { guardText, type Schedule, ScheduleError } from './schedule.ts';
import type { TimeZone } from './time-zone.ts';

const DAY_MS = 86_400_000;
/** Search limit; a schedule whose activations are all excluded for five years is never due. */
const MAX_SEARCH_MS = 5 * 366 * DAY_MS;

/**
 * Removes the activations on excluded days from a schedule.
 *
 * @param lists of days such as `2026-12-25`, or patterns of day of month, month and day of week (`24-26 DEC *`), also as
 *   the last three fields of a schedule, whose time of day is ignored. Each list is parsed once, since the jobs of an object
 *   share one; it must not change
 * @throws ScheduleError if a date is invalid, or if a list has too many
 */
export function excludeDates(
  schedule: Schedule,
  lists: readonly (readonly string[])[],
  zone: TimeZone,
): Schedule {
  const tests = lists.filter((dates) => dates.length > 0).map((dates) => dayTestOf(dates));
  if (tests.length === 0) return schedule;
  const isExcluded: DayTest = (civilDayMs) => tests.some((test) => test(civilDayMs));
  const dayOf = (atMs: number) => Math.floor(zone.civilMs(atMs) / DAY_MS) * DAY_MS;
  return {
    next(afterMs) {
      const lastMs = afterMs + MAX_SEARCH_MS;
      let atMs = schedule.next(afterMs);
      while (atMs !== undefined && atMs <= lastMs) {
        let dayMs = dayOf(atMs);
        if (!isExcluded(dayMs)) return atMs;
        do dayMs += DAY_MS;
        while (isExcluded(dayMs) && dayMs <= lastMs);
        atMs = schedule.next(findStart(dayMs, zone) - 1000);
      }
      return undefined;
    },
    previous(beforeMs) {
      const firstMs = beforeMs - MAX_SEARCH_MS;
      let atMs = schedule.previous(beforeMs);
      while (atMs !== undefined && atMs >= firstMs) {
        let dayMs = dayOf(atMs);
        if (!isExcluded(dayMs)) return atMs;
        do dayMs -= DAY_MS;
        while (isExcluded(dayMs) && dayMs >= firstMs);
        atMs = schedule.previous(findStart(dayMs + DAY_MS, zone));
      }
      return undefined;
    },
    delayMs: (atMs) => schedule.delayMs(atMs),
  };
}

/** Finds the first instant of a day in a zone, or of a later day if the clock skips it. */
function findStart(civilDayMs: number, zone: TimeZone): number {
  let segment = zone.segmentAt(civilDayMs - DAY_MS);
  while (segment.endMs + segment.offsetMs <= civilDayMs) segment = zone.segmentAt(segment.endMs);
  return Math.max(segment.startMs, civilDayMs - segment.offsetMs);
}

/** Whether a day is excluded, by its midnight in civil time. */
type DayTest = (civilDayMs: number) => boolean;

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
/** Twice the limit of the definition for one list. */
const MAX_DATES = 2 * 366;

/**
 * Parses days such as `2026-12-25` and patterns of days. A lookup takes constant time, since a schedule whose days are
 * all excluded looks up thousands of them.
 *
 * @throws ScheduleError if a date is invalid, or if there are too many
 */
export function parseExcludedDays(dates: readonly string[]): DayTest {
  if (dates.length > MAX_DATES)
    throw new ScheduleError(`Cannot read ${dates.length} excluded dates: more than ${MAX_DATES}`);
  const days = new Set<number>();
  const patterns = new DayPatterns();
  for (const text of new Set(dates))
    guardText('excluded date', text, (trimmed) => {
      const date = DATE.exec(trimmed);
      if (date) days.add(parseDate(date) / DAY_MS);
      else patterns.add(trimmed);
    });
  return (civilDayMs) => days.has(civilDayMs / DAY_MS) || patterns.has(new Date(civilDayMs));
}

const dayTestOf = memoizeByObject(parseExcludedDays);

function parseDate([text, year, month, day]: RegExpExecArray): number {
  const dayMs = Date.UTC(Number(year), Number(month) - 1, Number(day));
  if (new Date(dayMs).toISOString().slice(0, 10) !== text) throw new ScheduleError('no such day');
  return dayMs;
}

const FORMS =
  'must be a date such as 2026-12-25, or have 3 fields (day of month, month, day of week), 5 or 6';

const EACH_WEEKDAY = 0b111_1111;

/** Days of any year, by month and day of month; each with one bit for each matching day of the week. */
class DayPatterns {
  #weekdays: Uint8Array | undefined;

  add(text: string): void {
    const count = text === '' ? 0 : text.split(/\s+/).length;
    if (![3, 5, 6].includes(count)) throw new ScheduleError(`${FORMS}, not ${count}`);
    const fields = parseFields(count === 3 ? `* * * ${text}` : text);
    const { dayOfMonth, month, dayOfWeek } = fields;
    const needsBoth = needsBothDays(fields);
    const named = dayOfWeek.values.reduce((bits, weekday) => bits | (1 << weekday), 0);
    const [onDate, onOthers] = needsBoth ? [named, 0] : [EACH_WEEKDAY, named];
    this.#weekdays ??= new Uint8Array(indexOfDay(12, 31) + 1);
    for (const one of month.values) {
      for (let day = 1; day <= 31; day++) this.#mark(indexOfDay(one, day), onOthers);
      for (const day of dayOfMonth.values) this.#mark(indexOfDay(one, day), onDate);
    }
  }

  has(day: Date): boolean {
    const weekdays = this.#weekdays?.[indexOfDay(day.getUTCMonth() + 1, day.getUTCDate())] ?? 0;
    return (weekdays & (1 << day.getUTCDay())) !== 0;
  }

  #mark(index: number, bits: number): void {
    if (this.#weekdays) this.#weekdays[index] = (this.#weekdays[index] ?? 0) | bits;
  }
}

function indexOfDay(month: number, dayOfMonth: number): number {
  return (month - 1) * 31 + dayOfMonth - 1;
}
