import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { LruMap } from './lru-map.ts';

interface Entry<T> {
  readonly value: T;
  readonly expiresAtMs: number;
}

/** Computes a value that is not cached. */
interface Computation<T> {
  /** @param signal aborts when no caller waits for the result; a result that is returned nevertheless is cached */
  readonly compute: (signal: AbortSignal) => Promise<T>;
  /** How long a value is cached; 0 disables caching. */
  readonly lifetimeMs: (value: T) => number;
  /** Aborts when the caller stops waiting; called only if the value is not cached. */
  readonly signal?: (() => AbortSignal) | undefined;
}

interface Pending<T> {
  readonly result: Promise<T>;
  readonly unused: AbortController;
  waiting: number;
}

/** Shared, since an abort without a reason creates an error with a stack each time. */
const NO_CALLERS = new Error('no caller waits for the result');

/**
 * Caches values that are expensive to compute, each for a limited time. Concurrent callers of a key share one
 * computation. The least recently used value is evicted first.
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

  /** Returns the cached value, unless it has expired. */
  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    if (this.#clock.monotonicMs() < entry.expiresAtMs) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /**
   * Returns the cached value, or computes it. A failure is passed to all waiting callers and is not cached.
   *
   * @throws the error of the computation; the signal's reason if it aborts first
   */
  async getOrCompute(key: string, computation: Computation<T>): Promise<T> {
    const cached = this.get(key);
    if (cached !== undefined) return cached;
    const signal = computation.signal?.();
    for (;;) {
      const pending = this.#pending.get(key) ?? this.#begin(key, computation);
      const wasUnused = pending.unused.signal.aborted;
      pending.waiting++;
      try {
        return await (signal ? raceAbort(pending.result, signal) : pending.result);
      } catch (error) {
        if (!wasUnused || signal?.aborted) throw error; // otherwise it failed because earlier callers had left
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
      () => this.#pending.delete(key), // the waiting callers receive the error
    );
    return pending;
  }

  #cache(key: string, entry: Entry<T>): void {
    if (entry.expiresAtMs > this.#clock.monotonicMs()) this.#entries.set(key, entry);
  }
}
