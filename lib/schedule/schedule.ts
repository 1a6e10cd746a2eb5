/** When something is due. Times are milliseconds since the Unix epoch; activations are whole seconds. */
export interface Schedule {
  /** The first activation after a moment, or `undefined` where there is none within the next five years. */
  next(afterMs: number): number | undefined;

  /** The last activation before a moment, or `undefined` where there is none within the last five years. */
  previous(beforeMs: number): number | undefined;

  /** By how much later than it names an activation is: where the clock skipped the time that it names. */
  delayMs(atMs: number): number;
}

/** A schedule, a time zone or an excluded date that cannot be read; its message names what, where and the rule. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
}

const SECOND_MS = 1000;

/** `@every 90s`: due again and again after an interval, counted from when it was first followed. */
export class IntervalSchedule implements Schedule {
  readonly #intervalMs: number;
  readonly #anchorMs: number;

  /** @param intervalMs a second at least, and whole seconds; what is more is left out */
  constructor(intervalMs: number, anchorMs: number) {
    this.#intervalMs = Math.max(SECOND_MS, wholeSeconds(intervalMs));
    this.#anchorMs = wholeSeconds(anchorMs);
  }

  next(afterMs: number): number | undefined {
    return this.#at(Math.max(1, Math.floor((afterMs - this.#anchorMs) / this.#intervalMs) + 1));
  }

  previous(beforeMs: number): number | undefined {
    const count = Math.ceil((beforeMs - this.#anchorMs) / this.#intervalMs) - 1;
    return count < 1 ? undefined : this.#at(count);
  }

  delayMs(): number {
    return 0;
  }

  #at(count: number): number | undefined {
    const atMs = this.#anchorMs + count * this.#intervalMs;
    return Number.isNaN(new Date(atMs).getTime()) ? undefined : atMs;
  }
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / SECOND_MS) * SECOND_MS;
}
