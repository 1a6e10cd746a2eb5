import type { Schedule } from './schedule.ts';

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
