import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

const BUCKETS_S = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600];

/** The `cronhpa_*` series. */
export class CronHpaSeries {
  readonly #activations: Counter<'result'>;
  readonly #missed: Counter;
  readonly #delay: Histogram;

  /** @param count counts objects by readiness */
  constructor(registry: Registry, count: () => { readonly ready: number; readonly notReady: number }) {
    const registers = [registry];
    this.#activations = new Counter({
      name: 'cronhpa_activations_total',
      help: 'Activations of jobs, by result; each failed attempt of an activation counts as Failed',
      labelNames: ['result'],
      registers,
    });
    for (const result of ['Succeed', 'Failed']) this.#activations.inc({ result }, 0);
    this.#missed = new Counter({
      name: 'cronhpa_missed_activations_total',
      help: 'Activations of jobs that were not executed, because a later activation was due or startingDeadlineSeconds had passed',
      registers,
    });
    this.#delay = new Histogram({
      name: 'cronhpa_activation_delay_seconds',
      help: 'Time between the scheduled time of an activation and its execution, in seconds',
      buckets: BUCKETS_S,
      registers,
    });
    new Gauge({
      name: 'cronhpa_objects',
      help: 'CronHorizontalPodAutoscalers, by readiness: ready if all jobs are scheduled and the target can be scaled',
      labelNames: ['ready'],
      registers,
      collect() {
        const { ready, notReady } = count();
        this.set({ ready: 'true' }, ready);
        this.set({ ready: 'false' }, notReady);
      },
    });
  }

  carriedOut(result: 'Succeed' | 'Failed', delayMs: number): void {
    this.#activations.inc({ result });
    if (result === 'Succeed') this.#delay.observe(Math.max(0, delayMs) / 1000);
  }

  missed(count: number): void {
    this.#missed.inc(count);
  }
}
