import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { TokenBucket } from './token-bucket.ts';

/** What a set of listeners works with. */
interface ListenersOptions {
  /** What the listeners hear of, as a log line names it. */
  readonly event: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A listener that fails at every event is told no more often than this. */
const LINES = { perSecond: 1 / 60, burst: 1 };

/**
 * Those who want to hear of something. One that throws costs neither the others nor the caller anything: its failure is
 * logged, at most once a minute.
 */
export class Listeners<T> {
  readonly #options: ListenersOptions;
  /** Each with the lines that the log may have of it. */
  readonly #listeners = new Map<(event: T) => void, TokenBucket>();

  constructor(options: ListenersOptions) {
    this.#options = options;
  }

  /**
   * @param first what only this listener is told, at once
   * @returns ends that
   */
  add(listener: (event: T) => void, first: Iterable<T> = []): () => void {
    const own = (event: T) => listener(event); // the same function may be added twice
    this.#listeners.set(own, new TokenBucket({ clock: this.#options.clock, ...LINES }));
    for (const event of first) this.#call(own, event);
    return () => void this.#listeners.delete(own);
  }

  /** Calls every listener, and never throws. */
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
    logger.error('A listener failed; the others go on', error, { event });
  }
}
