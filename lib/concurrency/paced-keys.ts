import type { Clock } from '#lib/time/clock.ts';
import { DelayedKeys } from './delayed-keys.ts';

interface PacedKeysOptions {
  readonly clock: Clock;
  /** Does the work of a key. */
  readonly release: (key: string) => void;
  /** How long a key waits after it was released, in milliseconds. */
  readonly pauseMs: (key: string) => number;
}

/**
 * Coalesces additions of a key: the first is released at once, those during its pause are released together at the end
 * of the pause. The work of a key is then bounded by time, however often it is added.
 */
export class PacedKeys implements Disposable {
  readonly #options: PacedKeysOptions;
  readonly #pausedUntilMs = new Map<string, number>();
  readonly #pending: DelayedKeys;

  constructor(options: PacedKeysOptions) {
    this.#options = options;
    this.#pending = new DelayedKeys({ clock: options.clock, release: (key) => this.#release(key) });
  }

  add(key: string): void {
    const waitMs = (this.#pausedUntilMs.get(key) ?? 0) - this.#options.clock.monotonicMs();
    if (waitMs > 0) this.#pending.add(key, waitMs);
    else this.#release(key);
  }

  /** Drops a pending release of a key, and its pause. */
  delete(key: string): void {
    this.#pausedUntilMs.delete(key);
    this.#pending.delete(key);
  }

  /** Cancels all pending releases. */
  [Symbol.dispose](): void {
    this.#pending.clear();
    this.#pausedUntilMs.clear();
  }

  #release(key: string): void {
    const { clock, release, pauseMs } = this.#options;
    this.#pending.delete(key);
    this.#pausedUntilMs.set(key, clock.monotonicMs() + pauseMs(key));
    release(key);
  }
}
