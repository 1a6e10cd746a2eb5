import { createHash } from 'node:crypto';
import { LruMap } from '#lib/cache/lru-map.ts';
import { parseDurationMs } from '#lib/time/duration.ts';
import { CalendarSchedule, parseFields } from './calendar-schedule.ts';
import { excludeDates as removeDates } from './excluded-dates.ts';
import { IntervalSchedule, type Schedule, ScheduleError } from './schedule.ts';
import { TimeZone } from './time-zone.ts';

/** So many schedules are kept, of some 3 KB each; one that is read again takes as long as one search in it. */
const MAX_CACHED = 10_000;
const DAY_MS = 86_400_000;

/** Reads schedules, those that were read lately once: objects are reconciled far more often than they change. */
export class Schedules {
  readonly #cache = new LruMap<string, Schedule | ScheduleError>({ max: MAX_CACHED });

  /** @throws ScheduleError */
  read(
    text: string,
    { excludeDates, ...options }: ScheduleOptions & { readonly excludeDates: readonly string[] },
  ): Schedule {
    const { timeZone, anchorMs } = options;
    const parts = [text, timeZone, excludeDates, text.includes('@every') ? anchorMs : 0];
    const key = createHash('sha256').update(JSON.stringify(parts)).digest('base64'); // dates may take 190 kB
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

/** What a schedule is read with. */
interface ScheduleOptions {
  /** Where its times are meant, unless it begins with a zone of its own. */
  readonly timeZone: string;
  /** What `@every` counts from, in milliseconds since the Unix epoch. */
  readonly anchorMs: number;
}

const MAX_LENGTH = 256;
const MAX_SHOWN_LENGTH = 80;
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
    if (text.length > MAX_LENGTH) throw new ScheduleError(`it is longer than ${MAX_LENGTH} characters`);
    const trimmed = text.trim();
    const [, zone = timeZone, rest = trimmed] = OWN_ZONE.exec(trimmed) ?? [];
    return parseTimes(rest.trim(), TimeZone.named(zone), anchorMs);
  } catch (cause) {
    if (!(cause instanceof ScheduleError)) throw cause;
    const shown = JSON.stringify(
      text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text,
    );
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

/**
 * A schedule that need not search again for what it found last: the next activation of an object is asked for at each look at it, and
 * mostly it is still the same.
 */
export function cacheLastResults(schedule: Schedule): Schedule {
  let [fromMs, nextMs] = [0, Number.NEGATIVE_INFINITY];
  let [previousMs, untilMs] = [Number.POSITIVE_INFINITY, 0];
  /** There is nothing after the first, and nothing before any moment from the second to the third. */
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
