import type { Clock } from '#lib/time/clock.ts';

interface SnapshotPublisherOptions {
  readonly clock: Clock;
  /** Serves the responses received so far. */
  readonly publish: () => void;
  /** How long the first publication of the cycle waits for responses of all nodes. */
  readonly maxWaitMs: number;
}

/** Limits later publications to four per second. */
const MIN_INTERVAL_MS = 250;

/** Limits them to 1/20 of the time: creating a snapshot of 150,000 pods takes 0.1 s. */
const INTERVAL_PER_DURATION = 20;

/**
 * Publishes the responses of a cycle in groups, so that a slow kubelet does not delay others and few snapshots are
 * created.
 */
export class SnapshotPublisher implements Disposable {
  readonly #options: SnapshotPublisherOptions;
  readonly #timers = new AbortController();
  #isDirty = false;
  #isTimerSet = false;
  #intervalMs = MIN_INTERVAL_MS;

  constructor(options: SnapshotPublisherOptions) {
    this.#options = options;
    this.#publishAfter(options.maxWaitMs);
  }

  /** Records that a response has been received since the last publication. */
  markDirty(): void {
    this.#isDirty = true;
    if (!this.#isTimerSet) this.#publishAfter(this.#intervalMs);
  }

  /** Publishes at once if there are new responses. */
  flush(): void {
    if (!this.#isDirty) return;
    this.#isDirty = false;
    const { clock, publish } = this.#options;
    const startMs = clock.monotonicMs();
    publish();
    this.#intervalMs = Math.max(MIN_INTERVAL_MS, (clock.monotonicMs() - startMs) * INTERVAL_PER_DURATION);
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
