import { Cron } from 'croner';
import type { ScheduleField } from './schedule-field.ts';

/** The fields that say on which days. */
export interface DayFields {
  readonly dayOfMonth: ScheduleField;
  readonly month: ScheduleField;
  readonly dayOfWeek: ScheduleField;
}

/** All six fields of a schedule. */
export interface ScheduleFields extends DayFields {
  readonly second: ScheduleField;
  readonly minute: ScheduleField;
  readonly hour: ScheduleField;
}

const DAYS_OF_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * The times that a schedule names, by a clock that nobody ever changes.
 *
 * A civil time is the milliseconds from 1970 of what the clock on the wall shows, as if it showed UTC. The walk through the
 * calendar is croner's.
 */
export class CivilCalendar {
  /** `undefined` where no year has such a day. */
  readonly #cron: Cron | undefined;

  constructor(fields: ScheduleFields) {
    const text = [
      fields.second,
      fields.minute,
      fields.hour,
      fields.dayOfMonth,
      fields.month,
      fields.dayOfWeek,
    ]
      .map(({ values, isStar }) => (isStar ? '*' : values.join(',')))
      .join(' ');
    if (!namesDays(fields)) return;
    this.#cron = new Cron(text, {
      mode: '6-part',
      utcOffset: 0,
      paused: true,
      domAndDow: needsBothDays(fields),
    });
    shareYears(this.#cron);
  }

  /** The first civil time after another. */
  next(afterMs: number): number | undefined {
    return this.#cron?.nextRun(new Date(afterMs))?.getTime();
  }

  /** The last civil time before another. */
  previous(beforeMs: number): number | undefined {
    return this.#cron?.previousRuns(1, new Date(beforeMs))[0]?.getTime();
  }
}

/** Which years a schedule means whose fields name none: all. */
let allYears: unknown;

/**
 * Has schedules share the table of ten thousand years that croner makes for each: 80 KB of the 83 that one would take. Where croner
 * comes to keep it elsewhere nothing is shared, and the spec that counts bytes tells.
 */
function shareYears(cron: Cron): void {
  const { _states: states } = cron as unknown as { _states?: { pattern?: { year?: unknown } } };
  if (!states?.pattern || !Array.isArray(states.pattern.year)) return;
  allYears ??= states.pattern.year;
  states.pattern.year = allYears;
}

/**
 * Whether a day that the date names must be the right day of the week, too: where one of both fields is a star. Where both
 * restrict, either suffices.
 */
export function needsBothDays({ dayOfMonth, dayOfWeek }: DayFields): boolean {
  return dayOfMonth.isStar || dayOfWeek.isStar;
}

/** False for 30 February and its like, for which a search would go through all years. */
function namesDays(fields: DayFields): boolean {
  if (!needsBothDays(fields)) return true; // there are such days of the week
  const earliestDay = fields.dayOfMonth.values[0] ?? 1;
  return fields.month.values.some((month) => earliestDay <= (DAYS_OF_MONTH[month - 1] ?? 0));
}
