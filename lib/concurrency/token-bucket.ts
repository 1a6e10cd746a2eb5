import type { Clock } from '#lib/time/clock.ts';
import { FairQueue } from './fair-queue.ts';

export interface TokenBucketOptions {
  readonly clock: Clock;
  /** Tokens added per second; above 0, may be a fraction. */
  readonly perSecond: number;
  /** Maximum number of tokens; at least 1. */
  readonly burst: number;
}

interface Waiter {
  readonly admit: () => void;
  isAborted: boolean;
}

/** Tolerance for rounding errors. */
const ROUNDING = 1e-9;

/**
 * Limits a rate to `perSecond` on average, with bursts of `burst`. Tenants that wait receive tokens round robin: a
 * tenant waits for at most one token of each other tenant.
 */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #burst: number;
  /** Negative if tokens are reserved in advance. */
  #tokens: number;
  #countedAtMs: number;
  readonly #waiting = new FairQueue<Waiter>();
  #waitingCount = 0;
  #timer: Disposable | undefined;

  /** @throws if the rate is not positive, or the burst less than 1 */
  constructor({ clock, perSecond, burst }: TokenBucketOptions) {
    if (!(perSecond > 0) || !(burst >= 1)) {
      throw new RangeError(`Cannot limit the rate to ${perSecond} per second with bursts of ${burst}`);
    }
    this.#clock = clock;
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#tokens = burst;
    this.#countedAtMs = clock.monotonicMs();
  }

  /** Whether no token is taken or reserved. */
  get isFull(): boolean {
    this.#refill();
    return this.#tokens >= this.#burst;
  }

  /** Takes tokens if that many are available. */
  tryTake(count = 1): boolean {
    this.#refill();
    if (!(this.#tokens >= count - ROUNDING)) return false;
    this.#tokens -= count;
    return true;
  }

  /** Adds tokens, up to `burst`. */
  add(count: number): void {
    this.#refill();
    this.#tokens = Math.min(this.#burst, this.#tokens + count);
  }

  /**
   * Reserves the next token that is not reserved.
   *
   * @returns the delay until it is available, in milliseconds
   */
  reserve(): number {
    this.#refill();
    this.#tokens--;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }

  /**
   * Waits for a token.
   *
   * @param tenant shares the tokens with other tenants; callers of one tenant are served in order
   * @throws the signal's reason if it aborts first
   */
  async take(signal?: AbortSignal, tenant = ''): Promise<void> {
    signal?.throwIfAborted();
    if (this.#waitingCount === 0 && this.tryTake()) return;
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => {
        waiter.isAborted = true;
        this.#leave();
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        isAborted: false,
        admit: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waitingCount++;
      this.#waiting.push(tenant, waiter);
      this.#startTimer();
    });
  }

  /** Counts a waiter that is admitted or aborted. */
  #leave(): void {
    this.#waitingCount--;
    if (this.#waitingCount > 0) return;
    this.#waiting.clear();
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  #startTimer(): void {
    if (this.#timer) return;
    this.#refill();
    this.#timer = this.#clock.startTimer(Math.max(0, 1 - this.#tokens) / this.#perMs, () => {
      this.#timer = undefined;
      this.#admit();
      if (this.#waitingCount > 0) this.#startTimer();
    });
  }

  #admit(): void {
    this.#refill();
    while (this.#waitingCount > 0 && this.#tokens >= 1 - ROUNDING) {
      const waiter = this.#waiting.shift();
      if (!waiter) return;
      if (waiter.isAborted) continue;
      this.#tokens--;
      waiter.admit();
      this.#leave();
    }
  }

  #refill(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#countedAtMs) * this.#perMs);
    this.#countedAtMs = nowMs;
  }
}
