import type { Clock } from '#lib/time/clock.ts';
import type { LogFields } from './logger.ts';

const HOUR_MS = 3_600_000;

/** Limits the log lines per hour about one subject, and counts the changes that are not logged. */
export class LineBudget {
  readonly #clock: Clock;
  readonly #linesPerHour: number;
  /** Start of the current hour. */
  #hourSinceMs: number;
  #lines = 0;
  /** Changes since the last line that were not logged. */
  #skipped = 0;

  constructor(clock: Clock, linesPerHour: number) {
    this.#clock = clock;
    this.#linesPerHour = linesPerHour;
    this.#hourSinceMs = clock.monotonicMs();
  }

  /** Whether nothing was logged or skipped in this hour. */
  get isUntouched(): boolean {
    this.#beginHour();
    return this.#lines === 0 && this.#skipped === 0;
  }

  /** @returns additional fields for the line; `undefined` if the budget of this hour is used up */
  take(reportsChange: boolean): LogFields | undefined {
    this.#beginHour();
    if (this.#lines >= this.#linesPerHour) {
      if (reportsChange) this.skip();
      return undefined;
    }
    this.#lines++;
    const changesNotLogged = this.#skipped;
    this.#skipped = 0;
    return changesNotLogged > 0 ? { changesNotLogged } : {};
  }

  /** Counts a change that is not logged. */
  skip(): void {
    this.#skipped++;
  }

  #beginHour(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#hourSinceMs < HOUR_MS) return;
    this.#hourSinceMs = nowMs;
    this.#lines = 0;
  }
}

/** Line budgets by name, such as a namespace, so that one tenant cannot fill the log. */
export class LineBudgets {
  readonly #clock: Clock;
  readonly #linesPerHour: number;
  readonly #budgets = new Map<string, LineBudget>();

  constructor(clock: Clock, linesPerHour: number) {
    this.#clock = clock;
    this.#linesPerHour = linesPerHour;
  }

  /** Budgets are never evicted; each takes little memory. */
  of(name: string): LineBudget {
    const budget = this.#budgets.get(name) ?? new LineBudget(this.#clock, this.#linesPerHour);
    this.#budgets.set(name, budget);
    return budget;
  }
}
