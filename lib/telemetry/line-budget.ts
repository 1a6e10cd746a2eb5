import type { Clock } from '#lib/time/clock.ts';
import type { LogFields } from './logger.ts';

const HOUR_MS = 3_600_000;

/** How many lines the log has of one thing in an hour, however often it changes; and how many changes they leave out. */
export class LineBudget {
  readonly #clock: Clock;
  readonly #linesAnHour: number;
  /** When the hour began of which the lines are counted. */
  #hourSinceMs: number;
  #lines = 0;
  /** Changes that no line reports, since the last line. */
  #skipped = 0;

  constructor(clock: Clock, linesAnHour: number) {
    this.#clock = clock;
    this.#linesAnHour = linesAnHour;
    this.#hourSinceMs = clock.monotonicMs();
  }

  /** Whether there was no line in this hour, and nothing that one should report. */
  get isUntouched(): boolean {
    this.#beginHour();
    return this.#lines === 0 && this.#skipped === 0;
  }

  /** @returns what a line is to say beside; `undefined` when there were all the lines of this hour */
  take(reportsChange: boolean): LogFields | undefined {
    this.#beginHour();
    if (this.#lines >= this.#linesAnHour) {
      if (reportsChange) this.skip();
      return undefined;
    }
    this.#lines++;
    const changesNotLogged = this.#skipped;
    this.#skipped = 0;
    return changesNotLogged > 0 ? { changesNotLogged } : {};
  }

  /** Notes a change that no line reports. */
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

/** How many lines the log has in an hour of each of those that may have any number of things fail, as a namespace has. */
export class LineBudgets {
  readonly #clock: Clock;
  readonly #linesAnHour: number;
  readonly #budgets = new Map<string, LineBudget>();

  constructor(clock: Clock, linesAnHour: number) {
    this.#clock = clock;
    this.#linesAnHour = linesAnHour;
  }

  /** The one of a name; it is remembered, which takes little. */
  of(name: string): LineBudget {
    const budget = this.#budgets.get(name) ?? new LineBudget(this.#clock, this.#linesAnHour);
    this.#budgets.set(name, budget);
    return budget;
  }
}
