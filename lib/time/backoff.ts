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

interface RetryDelaysOptions {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * Delays of retries by key, without jitter: the delay of a key doubles with each failure. For objects that share reads:
 * retried together, they share them again.
 */
export class RetryDelays {
  readonly #options: RetryDelaysOptions;
  readonly #delaysMs = new Map<string, number>();

  constructor(options: RetryDelaysOptions) {
    this.#options = options;
  }

  /** Counts a failure. @returns milliseconds to wait before the next attempt */
  failed(key: string): number {
    const { firstMs, maxMs } = this.#options;
    const delayMs = Math.min((this.#delaysMs.get(key) ?? firstMs / 2) * 2, maxMs);
    this.#delaysMs.set(key, delayMs);
    return delayMs;
  }

  /** The delay after the last failure; `undefined` without one since the last success. */
  delayMs(key: string): number | undefined {
    return this.#delaysMs.get(key);
  }

  /** Starts again at the first delay, after a success. */
  succeeded(key: string): void {
    this.#delaysMs.delete(key);
  }
}
