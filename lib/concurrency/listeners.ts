import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { TokenBucket } from './token-bucket.ts';

interface ListenersOptions {
  /** Names the event in log lines. */
  readonly event: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Rate of log lines for one listener. */
const LINES = { perSecond: 1 / 60, burst: 1 };

/**
 * A set of event listeners. The error of a listener affects neither other listeners nor the caller; it is logged at
 * most once a minute.
 */
export class Listeners<T> {
  readonly #options: ListenersOptions;
  /** Each with the rate limit of its log lines. */
  readonly #listeners = new Map<(event: T) => void, TokenBucket>();

  constructor(options: ListenersOptions) {
    this.#options = options;
  }

  /**
   * @param first events that only this listener receives, synchronously
   * @returns removes the listener
   */
  add(listener: (event: T) => void, first: Iterable<T> = []): () => void {
    const own = (event: T) => listener(event); // distinct, since the same function may be added twice
    this.#listeners.set(own, new TokenBucket({ clock: this.#options.clock, ...LINES }));
    for (const event of first) this.#call(own, event);
    return () => void this.#listeners.delete(own);
  }

  /** Calls every listener. Never throws. */
  notify(event: T): void {
    for (const listener of this.#listeners.keys()) this.#call(listener, event);
  }

  #call(listener: (event: T) => void, event: T): void {
    try {
      listener(event);
    } catch (error) {
      this.#log(listener, error);
    }
  }

  #log(listener: (event: T) => void, error: unknown): void {
    const { event, logger } = this.#options;
    if (this.#listeners.get(listener)?.tryTake() !== true) return;
    logger.error('Listener failed; other listeners continue', error, { event });
  }
}
