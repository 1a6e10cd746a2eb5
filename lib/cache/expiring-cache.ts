import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { LruMap } from './lru-map.ts';

interface Entry<T> {
  readonly value: T;
  readonly expiresAtMs: number;
}

/** How a response is found out. */
export interface Computation<T> {
  /** @param signal aborts when nobody waits for the result any more; what comes of it nevertheless is remembered */
  readonly compute: (signal: AbortSignal) => Promise<T>;
  /** For how long a response is to be remembered; 0 for not at all. */
  readonly lifetimeMs: (value: T) => number;
  /** Aborts when this caller does not wait any more; asked for only where there is something to wait for. */
  readonly signal?: (() => AbortSignal) | undefined;
}

interface Pending<T> {
  readonly result: Promise<T>;
  readonly unused: AbortController;
  waiting: number;
}

/** Made once: an abort without a reason makes one each time, with a stack. */
const NO_CALLERS = new Error('nobody waits for the result any more');

/**
 * Results that are expensive to compute, each remembered for a while; a caller that asks for one that is being computed waits
 * for it with the others. At most so many are remembered: the one that was asked for the longest ago goes first.
 */
export class ExpiringCache<T> {
  readonly #clock: Clock;
  readonly #entries: LruMap<string, Entry<T>>;
  readonly #pending = new Map<string, Pending<T>>();

  constructor({ clock, maxEntries }: { readonly clock: Clock; readonly maxEntries: number }) {
    this.#clock = clock;
    this.#entries = new LruMap({ max: maxEntries });
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The remembered response, unless its time is over. */
  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    if (this.#clock.monotonicMs() < entry.expiresAtMs) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  /** Has a response found out again that is remembered. */
  delete(key: string): void {
    this.#entries.delete(key);
  }

  /**
   * The remembered response, or one that is found out now. A failure is everybody's who waits, and not remembered.
   *
   * @throws the signal's reason when that aborts first
   */
  async getOrCompute(key: string, computation: Computation<T>): Promise<T> {
    const known = this.get(key);
    if (known !== undefined) return known;
    const signal = computation.signal?.();
    for (;;) {
      const pending = this.#pending.get(key) ?? this.#begin(key, computation);
      const wasLeft = pending.unused.signal.aborted;
      pending.waiting++;
      try {
        return await (signal ? raceAbort(pending.result, signal) : pending.result);
      } catch (error) {
        if (!wasLeft || signal?.aborted) throw error; // else it failed because those before had left
      } finally {
        if (--pending.waiting === 0) pending.unused.abort(NO_CALLERS);
      }
    }
  }

  #begin(key: string, { compute, lifetimeMs }: Computation<T>): Pending<T> {
    const unused = new AbortController();
    const result = compute(unused.signal);
    const pending: Pending<T> = { result, unused, waiting: 0 };
    this.#pending.set(key, pending);
    result.then(
      (value) => {
        this.#pending.delete(key);
        this.#cache(key, { value, expiresAtMs: this.#clock.monotonicMs() + lifetimeMs(value) });
      },
      () => this.#pending.delete(key), // told to those who wait
    );
    return pending;
  }

  #cache(key: string, entry: Entry<T>): void {
    if (entry.expiresAtMs > this.#clock.monotonicMs()) this.#entries.set(key, entry);
  }
}
