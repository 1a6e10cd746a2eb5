import { createHash } from 'node:crypto';
import { LruMap } from '#lib/cache/lru-map.ts';
import { memoizeByObject } from '#lib/cache/memoize.ts';
import { parseDurationMs } from '#lib/time/duration.ts';
import { CalendarSchedule, parseFields } from './calendar-schedule.ts';
import { excludeDates as removeDates } from './excluded-dates.ts';
import { guardText, IntervalSchedule, OneTimeSchedule, type Schedule, ScheduleError } from './schedule.ts';
import { TimeZone } from './time-zone.ts';

/** A schedule takes about 3 KB. Parsing one takes as long as one search in it. */
const MAX_CACHED = 10_000;
const DAY_MS = 86_400_000;

/** Parses and caches schedules: objects are reconciled far more often than they change. */
export class Schedules {
  readonly #cache = new LruMap<string, Schedule | ScheduleError>({ max: MAX_CACHED });

  /** @throws ScheduleError */
  read(text: string, { excludeDates, ...options }: ReadScheduleOptions): Schedule {
    const { timeZone, anchorMs } = options;
    const excluded = excludeDates.map((dates) => (dates.length === 0 ? '' : digestOf(dates)));
    const key = digest([text, timeZone, excluded, text.includes('@every') ? anchorMs : 0]);
    const read = this.#cache.getOrSet(key, () => {
      try {
        const zone = TimeZone.named(timeZone);
        return cacheLastResults(removeDates(parseSchedule(text, options), excludeDates, zone));
      } catch (error) {
        if (error instanceof ScheduleError) return error;
        throw error;
      }
    });
    if (read instanceof ScheduleError) throw read;
    return read;
  }
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}

/** A list may take 90 kB, and is read for each job at each reconciliation. */
const digestOf = memoizeByObject((dates: readonly string[]) => digest(dates));

interface ReadScheduleOptions extends ScheduleOptions {
  /** Lists as in {@link removeDates}. */
  readonly excludeDates: readonly (readonly string[])[];
}

interface ScheduleOptions {
  /** Zone of a schedule that does not start with `TZ=`. */
  readonly timeZone: string;
  /** Start of `@every` intervals, in milliseconds since the Unix epoch. */
  readonly anchorMs: number;
}

const OWN_ZONE = /^(?:CRON_)?TZ=(\S*)\s+(.*)$/s;
const EVERY = /^@every\s+(\S+)$/;
const DATE = /^@date\s+(\d{4})-(\d{2})-(\d{2})\s+(\d{2}):(\d{2}):(\d{2})$/;
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
 * Parses a schedule: six fields starting with the second, five fields as in CronJob, a descriptor such as `@daily`,
 * `@every` and a duration, or `@date` and a time; optionally after `TZ=` and a zone.
 *
 * @throws ScheduleError
 */
export function parseSchedule(text: string, { timeZone, anchorMs }: ScheduleOptions): Schedule {
  return guardText('schedule', text, (trimmed) => {
    const [, zone = timeZone, rest = trimmed] = OWN_ZONE.exec(trimmed) ?? [];
    return parseTimes(rest.trim(), TimeZone.named(zone), anchorMs);
  });
}

function parseTimes(text: string, zone: TimeZone, anchorMs: number): Schedule {
  const [, interval] = EVERY.exec(text) ?? [];
  if (interval !== undefined) {
    const intervalMs = parseDurationMs(interval);
    if (intervalMs === undefined) throw new ScheduleError('@every takes a duration such as 90s or 1h30m');
    return new IntervalSchedule(intervalMs, anchorMs);
  }
  if (text.startsWith('@date')) return parseDate(text, zone);
  if (text.startsWith('@') && !DESCRIPTORS.has(text)) {
    const descriptors = [...DESCRIPTORS.keys(), '@every', '@date'].join(', ');
    throw new ScheduleError(`unknown descriptor: only ${descriptors} may begin with @`);
  }
  return new CalendarSchedule(parseFields(DESCRIPTORS.get(text) ?? text), zone);
}

/** The civil time is matched as that of any schedule, so that it is due also where the clock skips it. */
function parseDate(text: string, zone: TimeZone): Schedule {
  const [, year, month, day, hour, minute, second] = DATE.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined)
    throw new ScheduleError('@date takes a time such as 2026-12-24 18:00:00');
  const midnightMs = Date.UTC(year, month - 1, day);
  if (new Date(midnightMs).getUTCMonth() !== month - 1 || new Date(midnightMs).getUTCDate() !== day)
    throw new ScheduleError('no such day');
  const yearly = new CalendarSchedule(parseFields(`${second} ${minute} ${hour} ${day} ${month} *`), zone);
  const atMs = yearly.next(midnightMs - DAY_MS);
  if (atMs === undefined) throw new ScheduleError('no such time');
  return new OneTimeSchedule(atMs, yearly.delayMs(atMs));
}

/** Whether a schedule is due once, so that it is over afterwards. */
export function isOneTime(text: string): boolean {
  const [, , rest = text] = OWN_ZONE.exec(text.trim()) ?? [];
  return rest.trim().startsWith('@date');
}

/**
 * Caches the last results of a schedule: the next activation of an object is requested at each reconciliation, and is
 * mostly still the same.
 */
export function cacheLastResults(schedule: Schedule): Schedule {
  let [fromMs, nextMs] = [0, Number.NEGATIVE_INFINITY];
  let [previousMs, untilMs] = [Number.POSITIVE_INFINITY, 0];
  /** No activation after `lastMs`, and none before any time from `firstMs` to `nothingUntilMs`. */
  let [lastMs, firstMs, nothingUntilMs] = [Number.NaN, Number.NaN, Number.NaN];
  return {
    next(afterMs) {
      if (fromMs <= afterMs && afterMs < nextMs) return nextMs;
      if (afterMs === lastMs) return undefined;
      const foundMs = schedule.next(afterMs);
      if (foundMs !== undefined) [fromMs, nextMs] = [afterMs, foundMs];
      else lastMs = afterMs;
      return foundMs;
    },
    previous(beforeMs) {
      if (previousMs < beforeMs && beforeMs <= untilMs) return previousMs;
      if (firstMs <= beforeMs && beforeMs <= nothingUntilMs) return undefined;
      const foundMs = schedule.previous(beforeMs);
      if (foundMs !== undefined) [previousMs, untilMs] = [foundMs, beforeMs];
      else [firstMs, nothingUntilMs] = [beforeMs, schedule.next(beforeMs - 1) ?? beforeMs + DAY_MS];
      return foundMs;
    },
    delayMs: (atMs) => schedule.delayMs(atMs),
  };
}
