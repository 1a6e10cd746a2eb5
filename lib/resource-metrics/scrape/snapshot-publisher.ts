import type { Clock } from '#lib/time/clock.ts';

/** What the publisher of a cycle needs from outside. */
export interface SnapshotPublisherOptions {
  readonly clock: Clock;
  /** Serves what has come in so far. */
  readonly publish: () => void;
  /** How long the first time waits for the responses of all. */
  readonly patienceMs: number;
}

/** The times after the first follow at most four times a second. */
const SHORTEST_INTERVAL_MS = 250;

/** Nor do they take more than one in so many parts of our time: a snapshot of 150,000 pods takes a tenth of a second to make. */
const SPARED_PARTS = 20;

/**
 * Publishes the responses of a cycle together, so that a slow kubelet does not hold up the others and every
 * swap of the snapshot is worth its cost.
 */
export class SnapshotPublisher implements Disposable {
  readonly #options: SnapshotPublisherOptions;
  readonly #timers = new AbortController();
  #isDirty = false;
  #isTimerSet = false;
  #intervalMs = SHORTEST_INTERVAL_MS;

  constructor(options: SnapshotPublisherOptions) {
    this.#options = options;
    this.#publishAfter(options.patienceMs);
  }

  /** Notes that a response has come in, which no snapshot has. */
  markDirty(): void {
    this.#isDirty = true;
    if (!this.#isTimerSet) this.#publishAfter(this.#intervalMs);
  }

  /** Publishes now, if there is anything new. */
  flush(): void {
    if (!this.#isDirty) return;
    this.#isDirty = false;
    const { clock, publish } = this.#options;
    const startMs = clock.monotonicMs();
    publish();
    this.#intervalMs = Math.max(SHORTEST_INTERVAL_MS, (clock.monotonicMs() - startMs) * SPARED_PARTS);
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
