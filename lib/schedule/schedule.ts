/** Times are milliseconds since the Unix epoch; activations are at whole seconds. */
export interface Schedule {
  /** Finds the first activation after a time; `undefined` if there is none in the next five years. */
  next(afterMs: number): number | undefined;

  /** Finds the last activation before a time; `undefined` if there was none in the last five years. */
  previous(beforeMs: number): number | undefined;

  /** Delay of an activation after its matching time, which the clock skipped; otherwise 0. */
  delayMs(atMs: number): number;
}

/** A schedule, time zone or excluded date is invalid. The message has the text and the rule. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
}

const MAX_LENGTH = 256;
const MAX_SHOWN_LENGTH = 80;

/**
 * Parses a text of an object by a function, within a bound of its length.
 *
 * @param what it is, as in `schedule`
 * @throws ScheduleError that names the text, with the rule that it violates
 */
export function guardText<Value>(what: string, text: string, parse: (trimmed: string) => Value): Value {
  try {
    if (text.length > MAX_LENGTH) throw new ScheduleError(`must be no longer than ${MAX_LENGTH} characters`);
    return parse(text.trim());
  } catch (cause) {
    if (!(cause instanceof ScheduleError)) throw cause;
    const isLong = text.length > MAX_SHOWN_LENGTH;
    const shown = JSON.stringify(isLong ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text);
    throw new ScheduleError(`Cannot read ${what} ${shown}: ${cause.message}`, { cause });
  }
}

const SECOND_MS = 1000;

/** `@every 90s`: due at a fixed interval after an anchor time. */
export class IntervalSchedule implements Schedule {
  readonly #intervalMs: number;
  readonly #anchorMs: number;

  /** @param intervalMs rounded down to whole seconds, at least one */
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

/** `@date 2026-12-24 18:00:00`: due once. */
export class OneTimeSchedule implements Schedule {
  readonly #atMs: number;
  readonly #delayMs: number;

  /** @param delayMs after the time that the clock skipped */
  constructor(atMs: number, delayMs: number) {
    this.#atMs = atMs;
    this.#delayMs = delayMs;
  }

  next(afterMs: number): number | undefined {
    return this.#atMs > afterMs ? this.#atMs : undefined;
  }

  previous(beforeMs: number): number | undefined {
    return this.#atMs < beforeMs ? this.#atMs : undefined;
  }

  delayMs(): number {
    return this.#delayMs;
  }
}
