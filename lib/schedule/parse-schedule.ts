import { parseDurationMs } from '#lib/time/duration.ts';
import {
  CalendarSchedule,
  FIELD_KINDS,
  parseScheduleField,
  type ScheduleFields,
} from './calendar-schedule.ts';
import { IntervalSchedule, type Schedule, ScheduleError } from './schedule.ts';
import { TimeZone } from './time-zone.ts';

/** What a schedule is read with. */
export interface ScheduleOptions {
  /** Where its times are meant, unless it begins with a zone of its own. */
  readonly timeZone: string;
  /** What `@every` counts from, in milliseconds since the Unix epoch. */
  readonly anchorMs: number;
}

const LONGEST_TEXT = 256;
const SHOWN_TEXT = 80;
const OWN_ZONE = /^(?:CRON_)?TZ=(\S*)\s+(.*)$/s;
const EVERY = /^@every\s+(\S+)$/;
const DESCRIPTORS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 0 1 1 *'],
  ['@annually', '0 0 0 1 1 *'],
  ['@monthly', '0 0 0 1 * *'],
  ['@weekly', '0 0 0 * * 0'],
  ['@daily', '0 0 0 * * *'],
  ['@midnight', '0 0 0 * * *'],
  ['@hourly', '0 0 * * * *'],
]);

/**
 * Reads a schedule: six fields beginning with the second, five as CronJob takes them, `@daily` and its like, or
 * `@every` and a duration; `TZ=` and a zone may come first.
 *
 * @throws ScheduleError
 */
export function parseSchedule(text: string, { timeZone, anchorMs }: ScheduleOptions): Schedule {
  try {
    if (text.length > LONGEST_TEXT) throw new ScheduleError(`it is longer than ${LONGEST_TEXT} characters`);
    const trimmed = text.trim();
    const [, zone = timeZone, rest = trimmed] = OWN_ZONE.exec(trimmed) ?? [];
    return parseTimes(rest.trim(), TimeZone.named(zone), anchorMs);
  } catch (cause) {
    if (!(cause instanceof ScheduleError)) throw cause;
    const shown = JSON.stringify(text.length > SHOWN_TEXT ? `${text.slice(0, SHOWN_TEXT)}…` : text);
    throw new ScheduleError(`Cannot read schedule ${shown}: ${cause.message}`, { cause });
  }
}

function parseTimes(text: string, zone: TimeZone, anchorMs: number): Schedule {
  const [, interval] = EVERY.exec(text) ?? [];
  if (interval !== undefined) {
    const intervalMs = parseDurationMs(interval);
    if (intervalMs === undefined) throw new ScheduleError('@every takes a duration such as 90s or 1h30m');
    return new IntervalSchedule(intervalMs, anchorMs);
  }
  if (text.startsWith('@') && !DESCRIPTORS.has(text)) {
    const known = [...DESCRIPTORS.keys(), '@every'].join(', ');
    throw new ScheduleError(`there are ${known} and no others that begin with @`);
  }
  return new CalendarSchedule(parseFields(DESCRIPTORS.get(text) ?? text), zone);
}

/** Reads five or six fields. @throws ScheduleError */
export function parseFields(text: string): ScheduleFields {
  const fields = text === '' ? [] : text.split(/\s+/);
  if (fields.length === 5) fields.unshift('0');
  if (fields.length !== 6)
    throw new ScheduleError(`it takes 6 fields, or 5 without seconds, not ${fields.length}`);
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
