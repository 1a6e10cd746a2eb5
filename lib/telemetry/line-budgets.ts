import type { Clock } from '#lib/time/clock.ts';
import { LineBudget } from './line-budget.ts';

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
