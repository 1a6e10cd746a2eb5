import type { Clock } from '#lib/time/clock.ts';
import { FairQueue } from './fair-queue.ts';

/** How often something may happen. */
export interface TokenBucketOptions {
  readonly clock: Clock;
  /** Tokens that come back in a second; above 0, may be a fraction. */
  readonly perSecond: number;
  /** Tokens that may be taken at once; at least 1. */
  readonly burst: number;
}

interface Waiter {
  readonly admit: () => void;
  isAborted: boolean;
}

/** What is left to a whole token by rounding. */
const ROUNDING = 1e-9;

/**
 * Limits how often something happens: `burst` times at once, and `perSecond` times a second on average. Tenants that wait
 * for tokens get them round robin: however many one waits for, another waits for one token of each tenant at most.
 */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #burst: number;
  /** Below 0 when tokens were promised that are still to come. */
  #tokens: number;
  #countedAtMs: number;
  readonly #waiting = new FairQueue<Waiter>();
  #waitingCount = 0;
  #timer: Disposable | undefined;

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

  /** Takes tokens, one by default, if there are as many now. */
  tryTake(count = 1): boolean {
    this.#refill();
    if (!(this.#tokens >= count - ROUNDING)) return false;
    this.#tokens -= count;
    return true;
  }

  /** Adds tokens, of which there are never more than `burst`. */
  add(count: number): void {
    this.#refill();
    this.#tokens = Math.min(this.#burst, this.#tokens + count);
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
   * Waits for a token.
   *
   * @param tenant shares the tokens with the other tenants; of one tenant, the first to wait gets the first token
   * @throws the signal's reason when it aborts first
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

  /** One that waited waits no longer. */
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
