import { type Schedule, ScheduleError } from './schedule.ts';
import type { TimeZone, ZoneSegment } from './time-zone.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Search limit; a schedule without an activation in this time is never due. */
const YEARS_AHEAD = 5;

/**
 * A cron schedule of six fields in a time zone.
 *
 * A schedule with `*` as its hour is due whenever the clock shows a matching time, also twice when the clock is set
 * back. Any other schedule is due once per matching time of day: times that the clock skips are due together at the
 * first instant after the gap, and of a repeated time only the first is due.
 */
export class CalendarSchedule implements Schedule {
  readonly #calendar: CivilCalendar;
  readonly #zone: TimeZone;
  readonly #followsClock: boolean;

  constructor(fields: ScheduleFields, zone: TimeZone) {
    this.#calendar = new CivilCalendar(fields);
    this.#zone = zone;
    this.#followsClock = fields.hour.isStar;
  }

  next(afterMs: number): number | undefined {
    const lastYear = yearOf(this.#zone.civilMs(afterMs)) + YEARS_AHEAD;
    let segment = this.#zone.segmentAt(afterMs);
    let foundMs = this.#firstIn(segment, afterMs + segment.offsetMs);
    while (foundMs === undefined) {
      segment = this.#zone.segmentAt(segment.endMs);
      if (yearOf(segment.startMs + segment.offsetMs) > lastYear) return undefined;
      foundMs = this.#isDueAtGap(segment)
        ? segment.startMs
        : this.#firstIn(segment, Number.NEGATIVE_INFINITY);
    }
    return yearOf(this.#zone.civilMs(foundMs)) > lastYear ? undefined : foundMs;
  }

  previous(beforeMs: number): number | undefined {
    const firstYear = yearOf(this.#zone.civilMs(beforeMs)) - YEARS_AHEAD;
    let segment = this.#zone.segmentAt(beforeMs - 1);
    let foundMs = this.#lastIn(segment, beforeMs + segment.offsetMs);
    while (foundMs === undefined) {
      segment = this.#zone.segmentAt(segment.startMs - 1);
      if (yearOf(segment.endMs + segment.offsetMs) < firstYear) return undefined;
      foundMs = this.#lastIn(segment, Number.POSITIVE_INFINITY);
    }
    return foundMs;
  }

  delayMs(atMs: number): number {
    const civilMs = this.#zone.civilMs(atMs);
    const namedMs = this.#calendar.previous(civilMs + SECOND_MS) ?? civilMs;
    return civilMs - namedMs;
  }

  /** Finds the first activation of a segment after a civil time. */
  #firstIn(segment: ZoneSegment, afterCivilMs: number): number | undefined {
    const fromMs = this.#firstCivilMs(segment);
    const civilMs = this.#calendar.next(Math.max(afterCivilMs, fromMs - SECOND_MS));
    if (civilMs === undefined || civilMs >= segment.endMs + segment.offsetMs) return undefined;
    return civilMs - segment.offsetMs;
  }

  /** Finds the last activation of a segment before a civil time. */
  #lastIn(segment: ZoneSegment, beforeCivilMs: number): number | undefined {
    const endMs = segment.endMs + segment.offsetMs;
    const civilMs = this.#calendar.previous(Math.min(beforeCivilMs, endMs));
    if (civilMs !== undefined && civilMs >= this.#firstCivilMs(segment)) return civilMs - segment.offsetMs;
    return this.#isDueAtGap(segment) ? segment.startMs : undefined;
  }

  /** The first civil time of a segment that can be due. */
  #firstCivilMs({ startMs, offsetMs, previousMaxMs }: ZoneSegment): number {
    const civilStartMs = startMs + offsetMs;
    return this.#followsClock ? civilStartMs : Math.max(civilStartMs, previousMaxMs);
  }

  /** Whether the clock skipped a matching time right before a segment. */
  #isDueAtGap({ startMs, offsetMs, previousMaxMs }: ZoneSegment): boolean {
    const civilStartMs = startMs + offsetMs;
    if (this.#followsClock || previousMaxMs >= civilStartMs) return false;
    const civilMs = this.#calendar.next(previousMaxMs - SECOND_MS);
    return civilMs !== undefined && civilMs < civilStartMs;
  }
}

function yearOf(civilMs: number): number {
  return new Date(civilMs).getUTCFullYear();
}

interface DayFields {
  readonly dayOfMonth: ScheduleField;
  readonly month: ScheduleField;
  readonly dayOfWeek: ScheduleField;
}

interface ScheduleFields extends DayFields {
  readonly second: ScheduleField;
  readonly minute: ScheduleField;
  readonly hour: ScheduleField;
}

const DAYS_OF_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/** 29 February falls on each day of the week at least once in this time, even across a century without leap day. */
const MAX_GAP_YEARS = 40;

/**
 * The matching times of a schedule on a clock without changes.
 *
 * A civil time is what a local clock shows, in milliseconds since 1970 as if it showed UTC.
 */
class CivilCalendar {
  readonly #fields: ScheduleFields;
  readonly #namesDays: boolean;
  readonly #needsBothDays: boolean;

  constructor(fields: ScheduleFields) {
    this.#fields = fields;
    this.#namesDays = namesDays(fields);
    this.#needsBothDays = needsBothDays(fields);
  }

  /** Finds the first matching civil time after another; `undefined` if no year has a matching day. */
  next(afterMs: number): number | undefined {
    const fromMs = (Math.floor(afterMs / SECOND_MS) + 1) * SECOND_MS;
    const dayMs = midnightOf(fromMs);
    const timeMs = this.#isNamed(dayMs) ? this.#firstTime(fromMs - dayMs) : undefined;
    if (timeMs !== undefined) return dayMs + timeMs;
    const laterMs = this.#nearestDay(dayMs + DAY_MS, 1);
    return laterMs === undefined ? undefined : laterMs + (this.#firstTime(0) ?? 0);
  }

  /** Finds the last matching civil time before another; `undefined` if no year has a matching day. */
  previous(beforeMs: number): number | undefined {
    const untilMs = (Math.ceil(beforeMs / SECOND_MS) - 1) * SECOND_MS;
    const dayMs = midnightOf(untilMs);
    const timeMs = this.#isNamed(dayMs) ? this.#lastTime(untilMs - dayMs) : undefined;
    if (timeMs !== undefined) return dayMs + timeMs;
    const earlierMs = this.#nearestDay(dayMs - DAY_MS, -1);
    return earlierMs === undefined ? undefined : earlierMs + (this.#lastTime(DAY_MS) ?? 0);
  }

  /** Finds the nearest matching day from this one on, forward or backward. */
  #nearestDay(fromMs: number, step: 1 | -1): number | undefined {
    if (!this.#namesDays) return undefined;
    const fromYear = yearOf(fromMs);
    let dayMs = fromMs;
    while (Math.abs(yearOf(dayMs) - fromYear) <= MAX_GAP_YEARS) {
      if (this.#isNamed(dayMs)) return dayMs;
      dayMs = this.#isInNamedMonth(dayMs) ? dayMs + step * DAY_MS : adjacentMonth(dayMs, step);
    }
    return undefined;
  }

  #isInNamedMonth(dayMs: number): boolean {
    return this.#fields.month.values.includes(new Date(dayMs).getUTCMonth() + 1);
  }

  #isNamed(dayMs: number): boolean {
    if (!this.#isInNamedMonth(dayMs)) return false;
    const date = new Date(dayMs);
    const isDate = this.#fields.dayOfMonth.values.includes(date.getUTCDate());
    const isWeekday = this.#fields.dayOfWeek.values.includes(date.getUTCDay());
    return this.#needsBothDays ? isDate && isWeekday : isDate || isWeekday;
  }

  /** Finds the first matching time of day that is not before another, both in milliseconds since midnight. */
  #firstTime(fromMs: number): number | undefined {
    const { hour, minute, second } = this.#fields;
    for (const hourMs of hour.values.map((value) => value * HOUR_MS)) {
      if (hourMs + HOUR_MS <= fromMs) continue;
      for (const minuteMs of minute.values.map((value) => hourMs + value * MINUTE_MS)) {
        const secondOf = second.values.find((value) => minuteMs + value * SECOND_MS >= fromMs);
        if (secondOf !== undefined) return minuteMs + secondOf * SECOND_MS;
      }
    }
    return undefined;
  }

  /** Finds the last matching time of day that is not after another, both in milliseconds since midnight. */
  #lastTime(untilMs: number): number | undefined {
    const { hour, minute, second } = this.#fields;
    for (const hourMs of hour.values.map((value) => value * HOUR_MS).reverse()) {
      if (hourMs > untilMs) continue;
      for (const minuteMs of minute.values.map((value) => hourMs + value * MINUTE_MS).reverse()) {
        const secondOf = second.values.findLast((value) => minuteMs + value * SECOND_MS <= untilMs);
        if (secondOf !== undefined) return minuteMs + secondOf * SECOND_MS;
      }
    }
    return undefined;
  }
}

function midnightOf(civilMs: number): number {
  return Math.floor(civilMs / DAY_MS) * DAY_MS;
}

/** Returns the first day of the next month or the last day of the previous one. */
function adjacentMonth(dayMs: number, step: 1 | -1): number {
  const date = new Date(dayMs);
  return step === 1
    ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
    : Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 0);
}

/**
 * Whether a day must match both day of month and day of week: if one of the fields is a star. If both restrict, either
 * suffices.
 */
export function needsBothDays({ dayOfMonth, dayOfWeek }: DayFields): boolean {
  return dayOfMonth.isStar || dayOfWeek.isStar;
}

/** False for schedules such as 30 February, for which a search would try all years. */
function namesDays(fields: DayFields): boolean {
  if (!needsBothDays(fields)) return true; // the day of week matches
  const earliestDay = fields.dayOfMonth.values[0] ?? 1;
  return fields.month.values.some((month) => earliestDay <= (DAYS_OF_MONTH[month - 1] ?? 0));
}

interface FieldKind {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  /** Names of the values, starting with `first`. */
  readonly names?: readonly string[];
}

interface ScheduleField {
  /** Matching values, ascending, without duplicates. */
  readonly values: readonly number[];
  /** Whether the field restricts nothing: `*`, `?`, or these with step 1. */
  readonly isStar: boolean;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** In the order of a schedule. */
const FIELD_KINDS = {
  second: { name: 'second', first: 0, last: 59 },
  minute: { name: 'minute', first: 0, last: 59 },
  hour: { name: 'hour', first: 0, last: 23 },
  dayOfMonth: { name: 'day of month', first: 1, last: 31 },
  month: { name: 'month', first: 1, last: 12, names: MONTHS },
  dayOfWeek: { name: 'day of week', first: 0, last: 6, names: WEEKDAYS },
} as const satisfies Readonly<Record<string, FieldKind>>;

/**
 * Parses a field like `robfig/cron`, which the CronJob controller of Kubernetes uses: `*`, `?`, `5`, `1-5`, `MON-FRI`,
 * `*\/15`, `3/20` (3, 23, 43 …), and lists of these; empty list items are ignored.
 *
 * @throws ScheduleError
 */
function parseScheduleField(text: string, kind: FieldKind): ScheduleField {
  const ranges = text.split(',').filter((range) => range !== '');
  if (ranges.length === 0) throw new ScheduleError(`${kind.name} "${text}" has no value`);
  const values = new Set<number>();
  let isStar = false;
  for (const range of ranges) {
    const { first, last, step, isStar: isWhole } = parseRange(range, kind);
    for (let value = first; value <= last; value += step) values.add(value);
    isStar ||= isWhole;
  }
  return { values: [...values].sort((a, b) => a - b), isStar };
}

function parseRange(
  text: string,
  kind: FieldKind,
): { first: number; last: number; step: number; isStar: boolean } {
  const [bounds = '', stepText, ...moreSteps] = text.split('/');
  const [firstText = '', lastText, ...moreBounds] = bounds.split('-');
  if (moreSteps.length > 0 || moreBounds.length > 0)
    throw new ScheduleError(`${kind.name} "${text}" has more than one step or more than two bounds`);
  const step = stepText === undefined ? 1 : parseNumber(stepText, `step of ${kind.name}`);
  if (step === 0) throw new ScheduleError(`step of ${kind.name} "${text}" is not positive`);
  if (bounds === '*' || bounds === '?')
    return { first: kind.first, last: kind.last, step, isStar: step === 1 };
  const first = parseValue(firstText, kind);
  const last =
    lastText !== undefined ? parseValue(lastText, kind) : stepText !== undefined ? kind.last : first;
  if (first > last) throw new ScheduleError(`${kind.name} "${text}" begins after its end`);
  return { first, last, step, isStar: false };
}

function parseValue(text: string, kind: FieldKind): number {
  const named = kind.names?.indexOf(text.toLowerCase()) ?? -1;
  const value = named >= 0 ? kind.first + named : parseNumber(text, kind.name);
  if (value < kind.first || value > kind.last)
    throw new ScheduleError(`${kind.name} "${text}" is not between ${kind.first} and ${kind.last}`);
  return value;
}

function parseNumber(text: string, what: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new ScheduleError(`${what} "${text}" is not a number`);
  return Number(text);
}

/** Parses five or six fields. @throws ScheduleError */
export function parseFields(text: string): ScheduleFields {
  const fields = text === '' ? [] : text.split(/\s+/);
  if (fields.length === 5) fields.unshift('0');
  if (fields.length !== 6)
    throw new ScheduleError(`must have 6 fields, or 5 without seconds, not ${fields.length}`);
  const [second = '', minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] = fields;
  return {
    second: parseScheduleField(second, FIELD_KINDS.second),
    minute: parseScheduleField(minute, FIELD_KINDS.minute),
    hour: parseScheduleField(hour, FIELD_KINDS.hour),
    dayOfMonth: parseScheduleField(dayOfMonth, FIELD_KINDS.dayOfMonth),
    month: parseScheduleField(month, FIELD_KINDS.month),
    dayOfWeek: parseScheduleField(dayOfWeek, FIELD_KINDS.dayOfWeek),
  };
}
