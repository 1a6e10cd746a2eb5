import { CivilCalendar, type ScheduleFields } from './civil-calendar.ts';
import type { Schedule } from './schedule.ts';
import type { TimeZone, ZoneSegment } from './time-zone.ts';

const SECOND_MS = 1000;
/** A schedule that is not due within the fifth year from now on is never due. */
const YEARS_AHEAD = 5;

/**
 * A schedule of six fields in a time zone.
 *
 * One whose hour is a star follows the clock: it is due whenever the clock shows a time that it names, twice where
 * the clock shows it twice. Any other means times of a day, and each time once: one that the clock skips is due at
 * the first moment after it, all that are skipped together, and of one that the clock shows twice the first counts.
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
      foundMs = this.#isDueAfterGap(segment)
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

  /** The first activation of a segment after a civil time. */
  #firstIn(segment: ZoneSegment, afterCivilMs: number): number | undefined {
    const fromMs = this.#firstCivilMs(segment);
    const civilMs = this.#calendar.next(Math.max(afterCivilMs, fromMs - SECOND_MS));
    if (civilMs === undefined || civilMs >= segment.endMs + segment.offsetMs) return undefined;
    return civilMs - segment.offsetMs;
  }

  /** The last activation of a segment before a civil time. */
  #lastIn(segment: ZoneSegment, beforeCivilMs: number): number | undefined {
    const endMs = segment.endMs + segment.offsetMs;
    const civilMs = this.#calendar.previous(Math.min(beforeCivilMs, endMs));
    if (civilMs !== undefined && civilMs >= this.#firstCivilMs(segment)) return civilMs - segment.offsetMs;
    return this.#isDueAfterGap(segment) ? segment.startMs : undefined;
  }

  /** The first civil time of a segment that counts. */
  #firstCivilMs({ startMs, offsetMs, reachedMs }: ZoneSegment): number {
    const civilStartMs = startMs + offsetMs;
    return this.#followsClock ? civilStartMs : Math.max(civilStartMs, reachedMs);
  }

  /** Whether the clock skipped a time right before a segment that means an activation. */
  #isDueAfterGap({ startMs, offsetMs, reachedMs }: ZoneSegment): boolean {
    const civilStartMs = startMs + offsetMs;
    if (this.#followsClock || reachedMs >= civilStartMs) return false;
    const civilMs = this.#calendar.next(reachedMs - SECOND_MS);
    return civilMs !== undefined && civilMs < civilStartMs;
  }
}

function yearOf(civilMs: number): number {
  return new Date(civilMs).getUTCFullYear();
}
