import type { MetricsBatch, NodeAnswer } from '#lib/resource-metrics/batch/metrics-batch.ts';
import type { Clock } from '#lib/time/clock.ts';

/** What a delivery needs from outside. */
export interface BatchDeliveryOptions {
  readonly clock: Clock;
  readonly deliver: (batch: MetricsBatch) => void;
  /** How long the first batch waits for the answers of all. */
  readonly patienceMs: number;
}

/** Batches that follow the first one come at most four times a second. */
const SHORTEST_INTERVAL_MS = 250;

/**
 * Gathers the answers of a cycle into batches, so that a slow kubelet does not hold up the others and every
 * swap of the snapshot is worth its cost.
 */
export class BatchDelivery implements Disposable {
  readonly #options: BatchDeliveryOptions;
  readonly #timers = new AbortController();
  #held: NodeAnswer[] = [];
  #isTimerSet = false;

  constructor(options: BatchDeliveryOptions) {
    this.#options = options;
    this.#flushAfter(options.patienceMs);
  }

  add(answer: NodeAnswer): void {
    this.#held.push(answer);
    if (!this.#isTimerSet) this.#flushAfter(SHORTEST_INTERVAL_MS);
  }

  /** Delivers what is held, if anything. */
  flush(): void {
    if (this.#held.length === 0) return;
    const answers = this.#held;
    this.#held = [];
    this.#options.deliver({ answers });
  }

  [Symbol.dispose](): void {
    this.#timers.abort();
  }

  #flushAfter(durationMs: number): void {
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
