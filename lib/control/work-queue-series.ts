import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Clock } from '#lib/time/clock.ts';

/** Observes the keys of a work queue. */
export interface QueueObserver {
  added(key: string): void;
  started(key: string): void;
  finished(key: string): void;
  retried(): void;
  dropped(key: string): void;
}

/** From 10 ns to 1,000 s, as in Kubernetes' components. */
const BUCKETS_S = Array.from({ length: 12 }, (_, exponent) => Number(`1e${exponent - 8}`));

interface Common {
  readonly labelNames: 'name'[];
  readonly registers: Registry[];
}

interface QueueState {
  readonly addedAtMs: Map<string, number>;
  readonly startedAtMs: Map<string, number>;
}

/** The `workqueue_*` series of Kubernetes, by the name of the queue. */
export class WorkQueueSeries {
  readonly #clock: Clock;
  readonly #queues = new Map<string, QueueState>();
  readonly #depth: Gauge<'name'>;
  readonly #adds: Counter<'name'>;
  readonly #queueDuration: Histogram<'name'>;
  readonly #workDuration: Histogram<'name'>;
  readonly #retries: Counter<'name'>;

  constructor({ clock, registry }: { readonly clock: Clock; readonly registry: Registry }) {
    this.#clock = clock;
    const common: Common = { labelNames: ['name'], registers: [registry] };
    this.#depth = new Gauge({
      ...common,
      name: 'workqueue_depth',
      help: 'Current depth of workqueue',
    });
    this.#adds = new Counter({
      ...common,
      name: 'workqueue_adds_total',
      help: 'Total number of adds handled by workqueue',
    });
    this.#queueDuration = new Histogram({
      ...common,
      name: 'workqueue_queue_duration_seconds',
      help: 'How long in seconds an item stays in workqueue before being requested',
      buckets: BUCKETS_S,
    });
    this.#workDuration = new Histogram({
      ...common,
      name: 'workqueue_work_duration_seconds',
      help: 'How long in seconds processing an item from workqueue takes',
      buckets: BUCKETS_S,
    });
    this.#retries = new Counter({
      ...common,
      name: 'workqueue_retries_total',
      help: 'Total number of retries handled by workqueue',
    });
    this.#addWorkGauges(common);
  }

  /** The observer of the queue with that name. */
  observe(name: string): QueueObserver {
    const labels = { name };
    const addedAtMs = new Map<string, number>();
    const startedAtMs = new Map<string, number>();
    this.#queues.set(name, { addedAtMs, startedAtMs });
    this.#depth.set(labels, 0);
    for (const counter of [this.#adds, this.#retries]) counter.inc(labels, 0);
    for (const histogram of [this.#queueDuration, this.#workDuration]) histogram.zero(labels);
    const clock = this.#clock;
    return {
      added: (key) => {
        this.#adds.inc(labels);
        this.#depth.inc(labels);
        addedAtMs.set(key, clock.monotonicMs());
      },
      started: (key) => {
        this.#depth.dec(labels);
        this.#queueDuration.observe(labels, takeElapsedS(addedAtMs, key, clock));
        startedAtMs.set(key, clock.monotonicMs());
      },
      finished: (key) => this.#workDuration.observe(labels, takeElapsedS(startedAtMs, key, clock)),
      retried: () => this.#retries.inc(labels),
      dropped: (key) => {
        this.#depth.dec(labels);
        addedAtMs.delete(key);
      },
    };
  }

  #addWorkGauges(common: Common): void {
    const fill = (gauge: Gauge<'name'>, combine: (elapsedS: readonly number[]) => number) => {
      const nowMs = this.#clock.monotonicMs();
      for (const [name, { startedAtMs }] of this.#queues) {
        const elapsedS = [...startedAtMs.values()].map((startMs) => (nowMs - startMs) / 1000);
        gauge.set({ name }, combine(elapsedS));
      }
    };
    new Gauge<'name'>({
      ...common,
      name: 'workqueue_unfinished_work_seconds',
      help: 'How many seconds of work in progress has not been observed by work_duration. Large values indicate stuck threads',
      collect() {
        fill(this, (elapsedS) => elapsedS.reduce((sum, one) => sum + one, 0));
      },
    });
    new Gauge<'name'>({
      ...common,
      name: 'workqueue_longest_running_processor_seconds',
      help: 'How many seconds the longest running processor for workqueue has been running',
      collect() {
        fill(this, (elapsedS) => Math.max(0, ...elapsedS));
      },
    });
  }
}

function takeElapsedS(sinceMs: Map<string, number>, key: string, clock: Clock): number {
  const startMs = sinceMs.get(key) ?? clock.monotonicMs();
  sinceMs.delete(key);
  return (clock.monotonicMs() - startMs) / 1000;
}
