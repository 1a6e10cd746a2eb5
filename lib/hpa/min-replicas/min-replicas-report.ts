import { Counter, Gauge, type Registry } from 'prom-client';

/** What weeks say of minimums, for people and for series. */
export class AutoMinLog {
  readonly #lines = new Map<string, string>();
  readonly #recommended = new Map<string, { namespace: string; name: string; replicas: number }>();
  readonly #adjustments: Counter<'namespace' | 'name'>;

  constructor(registry: Registry) {
    const registers = [registry];
    const recommended = this.#recommended;
    this.#adjustments = new Counter({
      name: 'autoscaler_hpa_min_replicas_adjustments_total',
      help: 'How often the minReplicas of an HPA were changed to what its week asks for',
      labelNames: ['namespace', 'name'],
      registers,
    });
    new Gauge({
      name: 'autoscaler_hpa_recommended_min_replicas',
      help: 'The minReplicas that would have carried the week; absent while too little is known',
      labelNames: ['namespace', 'name'],
      registers,
      collect() {
        this.reset();
        for (const { namespace, name, replicas } of recommended.values())
          this.set({ namespace, name }, replicas);
      },
    });
  }

  /** What is said of an HPA now. @param key `namespace/name` */
  find(key: string): string | undefined {
    return this.#lines.get(key);
  }

  tell(key: string, line: string): void {
    this.#lines.set(key, line);
  }

  /** @param replicas `undefined` where too little is known */
  judged(namespace: string, name: string, replicas: number | undefined): void {
    const key = `${namespace}/${name}`;
    if (replicas === undefined) this.#recommended.delete(key);
    else this.#recommended.set(key, { namespace, name, replicas });
  }

  adjusted(namespace: string, name: string): void {
    this.#adjustments.inc({ namespace, name });
  }

  forget(key: string): void {
    this.#lines.delete(key);
    this.#recommended.delete(key);
    const [namespace = '', name = ''] = key.split('/');
    this.#adjustments.remove({ namespace, name });
  }

  /** The term ends; what goes until the next one is not known. */
  clear(): void {
    this.#adjustments.reset();
    this.#lines.clear();
    this.#recommended.clear();
  }
}
