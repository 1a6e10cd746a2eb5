import { withoutDates } from './excluded-dates.ts';
import { parseSchedule, type ScheduleOptions } from './parse-schedule.ts';
import type { Schedule } from './schedule.ts';
import { TimeZone } from './time-zone.ts';

/** Schedules that are kept: what 10,000 objects with a few jobs each have, if no two are alike. */
const MOST_KEPT = 50_000;

/** Reads schedules, each once: objects are looked at far more often than their schedules change. */
export class Schedules {
  readonly #kept = new Map<string, Schedule>();

  /** @throws ScheduleError */
  read(
    text: string,
    { excludeDates, ...options }: ScheduleOptions & { readonly excludeDates: readonly string[] },
  ): Schedule {
    const { timeZone, anchorMs } = options;
    const key = JSON.stringify([text, timeZone, excludeDates, text.includes('@every') ? anchorMs : 0]);
    const known = this.#kept.get(key);
    if (known) return known;
    const schedule = withoutDates(parseSchedule(text, options), excludeDates, TimeZone.named(timeZone));
    if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
    this.#kept.set(key, schedule);
    return schedule;
  }
}
