import type { Clock } from '#lib/time/clock.ts';

interface Entry<T> {
  readonly value: T;
  readonly expiresAtMs: number;
}

/**
 * Answers that are dear to find out, each remembered for a while; whoever asks for one that is being found out waits
 * for it with the others. At most so many are remembered: the one that was asked for the longest ago goes first.
 */
export class ExpiringCache<T> {
  readonly #clock: Clock;
  readonly #maxEntries: number;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #pending = new Map<string, Promise<T>>();

  constructor({ clock, maxEntries }: { readonly clock: Clock; readonly maxEntries: number }) {
    this.#clock = clock;
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The remembered answer, unless its time is over. */
  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    if (this.#clock.monotonicMs() >= entry.expiresAtMs) return undefined;
    this.#entries.set(key, entry); // to the end: the longest unused go first
    return entry.value;
  }

  /**
   * The remembered answer, or one that is found out now. A failure is everybody's who waits, and not remembered.
   *
   * @param lifetimeMs for how long an answer is to be remembered; 0 for not at all
   */
  async getOrCompute(
    key: string,
    {
      compute,
      lifetimeMs,
    }: { readonly compute: () => Promise<T>; readonly lifetimeMs: (value: T) => number },
  ): Promise<T> {
    const known = this.get(key);
    if (known !== undefined) return known;
    const pending = this.#pending.get(key);
    if (pending) return await pending;
    const computing = compute();
    this.#pending.set(key, computing);
    try {
      const value = await computing;
      this.#remember(key, { value, expiresAtMs: this.#clock.monotonicMs() + lifetimeMs(value) });
      return value;
    } finally {
      this.#pending.delete(key);
    }
  }

  #remember(key: string, entry: Entry<T>): void {
    if (entry.expiresAtMs <= this.#clock.monotonicMs()) return;
    this.#entries.set(key, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#maxEntries && oldest !== undefined) this.#entries.delete(oldest);
  }
}
