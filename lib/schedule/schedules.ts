import { withoutDates } from './excluded-dates.ts';
import { parseSchedule, type ScheduleOptions } from './parse-schedule.ts';
import { remembering } from './remembering.ts';
import type { Schedule } from './schedule.ts';
import { TimeZone } from './time-zone.ts';

/** So many schedules are kept, of some 3 KB each; one that is read again takes as long as one search in it. */
const MOST_KEPT = 10_000;

/** Reads schedules, those that were asked for lately once: objects are looked at far more often than they change. */
export class Schedules {
  readonly #kept = new Map<string, Schedule>();

  /** @throws ScheduleError */
  read(
    text: string,
    { excludeDates, ...options }: ScheduleOptions & { readonly excludeDates: readonly string[] },
  ): Schedule {
    const { timeZone, anchorMs } = options;
    const key = JSON.stringify([text, timeZone, excludeDates, text.includes('@every') ? anchorMs : 0]);
    const schedule =
      this.#kept.get(key) ??
      remembering(withoutDates(parseSchedule(text, options), excludeDates, TimeZone.named(timeZone)));
    this.#kept.delete(key); // to the end: what was not asked for the longest goes first
    this.#kept.set(key, schedule);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return schedule;
  }
}
