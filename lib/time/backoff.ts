interface BackoffOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  /** Returns a number in [0, 1); spreads the retries of many clients. */
  readonly random: () => number;
}

/** Exponential delays with jitter: the range doubles each time, and each delay is in its upper half. */
export class Backoff {
  readonly #options: BackoffOptions;
  #nextMs: number;

  constructor(options: BackoffOptions) {
    this.#options = options;
    this.#nextMs = options.initialMs;
  }

  /** @returns milliseconds to wait before the next attempt */
  next(): number {
    const rangeMs = this.#nextMs;
    this.#nextMs = Math.min(rangeMs * 2, this.#options.maxMs);
    return rangeMs * (0.5 + this.#options.random() / 2);
  }

  /** Starts again at the initial delay, after a success. */
  reset(): void {
    this.#nextMs = this.#options.initialMs;
  }
}
