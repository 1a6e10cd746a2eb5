import { Counter, Gauge, type Registry } from 'prom-client';

/** Reports automatic minReplicas as text and series. */
export class MinReplicasReport {
  readonly #lines = new Map<string, string>();
  readonly #recommended = new Map<string, { namespace: string; name: string; replicas: number }>();
  readonly #adjustments: Counter<'namespace' | 'name'>;

  constructor(registry: Registry) {
    const registers = [registry];
    const recommended = this.#recommended;
    this.#adjustments = new Counter({
      name: 'autoscaler_hpa_min_replicas_adjustments_total',
      help: 'How often minReplicas of an HPA was changed to the recommended value',
      labelNames: ['namespace', 'name'],
      registers,
    });
    new Gauge({
      name: 'autoscaler_hpa_recommended_min_replicas',
      help: 'minReplicas that the load of the last week requires; absent until there is enough data',
      labelNames: ['namespace', 'name'],
      registers,
      collect() {
        this.reset();
        for (const { namespace, name, replicas } of recommended.values())
          this.set({ namespace, name }, replicas);
      },
    });
  }

  /** The report of an HPA. @param key `namespace/name` */
  find(key: string): string | undefined {
    return this.#lines.get(key);
  }

  report(key: string, line: string): void {
    this.#lines.set(key, line);
  }

  /** @param replicas `undefined` without enough data */
  judged(namespace: string, name: string, replicas: number | undefined): void {
    const key = `${namespace}/${name}`;
    if (replicas === undefined) this.#recommended.delete(key);
    else this.#recommended.set(key, { namespace, name, replicas });
  }

  adjusted(namespace: string, name: string): void {
    this.#adjustments.inc({ namespace, name });
  }

  remove(key: string): void {
    this.#lines.delete(key);
    this.#recommended.delete(key);
    const [namespace = '', name = ''] = key.split('/');
    this.#adjustments.remove({ namespace, name });
  }

  /** Clears all reports at the end of a leadership term. */
  clear(): void {
    this.#adjustments.reset();
    this.#lines.clear();
    this.#recommended.clear();
  }
}
