import type { Clock } from '#lib/time/clock.ts';

/** How often something may happen. */
export interface TokenBucketOptions {
  readonly clock: Clock;
  /** Tokens that come back in a second; above 0, may be a fraction. */
  readonly perSecond: number;
  /** Tokens that may be taken at once; at least 1. */
  readonly burst: number;
}

/** Limits how often something happens: `burst` times at once, and `perSecond` times a second on average. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #burst: number;
  /** Below 0 when tokens were promised that are still to come. */
  #tokens: number;
  #countedAtMs: number;

  /** @throws when the numbers limit nothing or everything */
  constructor({ clock, perSecond, burst }: TokenBucketOptions) {
    if (!(perSecond > 0) || !(burst >= 1)) {
      throw new RangeError(`Cannot limit to ${perSecond} a second in bursts of ${burst}`);
    }
    this.#clock = clock;
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#tokens = burst;
    this.#countedAtMs = clock.monotonicMs();
  }

  /** Whether no token is missing, nor promised. */
  get isFull(): boolean {
    this.#refill();
    return this.#tokens >= this.#burst;
  }

  /** Takes a token if there is one now. */
  tryTake(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  /**
   * Takes the next token that nobody was promised.
   *
   * @returns the milliseconds after which it is there
   */
  reserve(): number {
    this.#refill();
    this.#tokens--;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }

  /**
   * Waits for a token; those who came first get theirs first.
   *
   * @throws the signal's reason when it aborts first; the token is given back
   */
  async take(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const delayMs = this.reserve();
    if (delayMs === 0) return;
    try {
      await this.#clock.sleep(delayMs, signal ? { signal } : {});
    } catch (error) {
      this.#refill();
      this.#tokens = Math.min(this.#burst, this.#tokens + 1);
      throw error;
    }
  }

  #refill(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#countedAtMs) * this.#perMs);
    this.#countedAtMs = nowMs;
  }
}
