/** A schedule, a time zone or an excluded date that cannot be read; its message names what, where and the rule. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
}
