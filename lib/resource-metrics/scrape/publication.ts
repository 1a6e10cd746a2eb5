import type { Clock } from '#lib/time/clock.ts';

/** What the publication of a cycle needs from outside. */
export interface PublicationOptions {
  readonly clock: Clock;
  /** Serves what has come in so far. */
  readonly publish: () => void;
  /** How long the first time waits for the answers of all. */
  readonly patienceMs: number;
}

/** The times after the first follow at most four times a second. */
const SHORTEST_INTERVAL_MS = 250;

/**
 * When the answers of a cycle are published: together, so that a slow kubelet does not hold up the others and every
 * swap of the snapshot is worth its cost.
 */
export class Publication implements Disposable {
  readonly #options: PublicationOptions;
  readonly #timers = new AbortController();
  #hasNews = false;
  #isTimerSet = false;

  constructor(options: PublicationOptions) {
    this.#options = options;
    this.#publishAfter(options.patienceMs);
  }

  /** Notes that an answer has come in. */
  noteNews(): void {
    this.#hasNews = true;
    if (!this.#isTimerSet) this.#publishAfter(SHORTEST_INTERVAL_MS);
  }

  /** Publishes now, if there is anything new. */
  flush(): void {
    if (!this.#hasNews) return;
    this.#hasNews = false;
    this.#options.publish();
  }

  [Symbol.dispose](): void {
    this.#timers.abort();
  }

  #publishAfter(durationMs: number): void {
    this.#isTimerSet = true;
    this.#options.clock.sleep(durationMs, { signal: this.#timers.signal }).then(
      () => {
        this.#isTimerSet = false;
        this.flush();
      },
      () => {}, // disposed: the cycle is over
    );
  }
}
