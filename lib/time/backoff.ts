/** How long to wait between attempts that keep failing. */
interface BackoffOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  /** A number in [0, 1), so that not all clients come back at once. */
  readonly random: () => number;
}

/** Delays that double from attempt to attempt, each drawn from the upper half of its range. */
export class Backoff {
  readonly #options: BackoffOptions;
  #nextMs: number;

  constructor(options: BackoffOptions) {
    this.#options = options;
    this.#nextMs = options.initialMs;
  }

  /** @returns the milliseconds to wait before the next attempt */
  next(): number {
    const rangeMs = this.#nextMs;
    this.#nextMs = Math.min(rangeMs * 2, this.#options.maxMs);
    return rangeMs * (0.5 + this.#options.random() / 2);
  }

  /** Begins at the initial delay again after a success. */
  reset(): void {
    this.#nextMs = this.#options.initialMs;
  }
}
