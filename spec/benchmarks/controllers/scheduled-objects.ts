import { performance } from 'node:perf_hooks';
import { CRON_HPA, CRON_HPAS } from '#lib/cron-hpa/cron-hpa.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { collectionPath } from '#lib/kubernetes/client/api-resource.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { Informer } from '#lib/kubernetes/informer/informer.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { systemClock } from '#lib/time/clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

/** Rate and duration of changes. */
export interface ChangeOptions {
  readonly changesPerSecond: number;
  readonly durationMs: number;
  /** Called for each change with the time until its status was observed. */
  readonly onReconciled: (latencyMs: number) => void;
  readonly signal?: AbortSignal;
}

interface Observed {
  readonly name: string;
  readonly generation: number;
  readonly observedGeneration: number;
}

const CREATED_AT_ONCE = 32;
const RECONCILED_WITHIN_MS = 300_000;

/** Objects with a few jobs each, scheduled at varying times of day, and observed by a watch. */
export class ScheduledObjects implements AsyncDisposable {
  readonly #client: ResourceClient;
  readonly #observed: Informer<Observed>;
  readonly #count: number;
  readonly #awaited = new Map<string, { readonly generation: number; readonly done: () => void }>();
  #onObserved: () => void = () => {};

  constructor(api: ApiClient, count: number) {
    this.#client = new ResourceClient({ api, resource: CRON_HPAS });
    this.#count = count;
    this.#observed = new Informer<Observed>({
      client: api,
      clock: systemClock,
      logger: new RecordingLogger(),
      collection: { path: collectionPath(CRON_HPAS) },
      transform: readObserved,
    });
    this.#observed.onChange(({ current }) => {
      if (!current) return;
      const awaited = this.#awaited.get(current.name);
      if (awaited && current.observedGeneration >= awaited.generation) awaited.done();
      this.#onObserved();
    });
  }

  /** Creates all objects and starts the watch. */
  async create(): Promise<void> {
    const names = Array.from({ length: this.#count }, (_, index) => nameOf(index)).values();
    const work = async () => {
      for (const name of names) await this.#client.create(objectNamed(name));
    };
    await Promise.all(Array.from({ length: CREATED_AT_ONCE }, work));
    this.#observed.start();
  }

  /** Waits until each object has a status for its current spec. */
  async reconciled(signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const isDone = () =>
      this.#observed.size === this.#count &&
      [...this.#observed.values()].every(
        ({ generation, observedGeneration }) => observedGeneration === generation,
      );
    let sinceCheck = 0;
    this.#onObserved = () => {
      if (++sinceCheck % 100 === 0 && isDone()) resolve();
    };
    const checking = setInterval(() => isDone() && resolve(), 200);
    const late = setTimeout(
      () => reject(new Error('Cannot measure controllers: objects were not reconciled in time')),
      RECONCILED_WITHIN_MS,
    );
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    await promise.finally(() => {
      clearInterval(checking);
      clearTimeout(late);
      this.#onObserved = () => {};
    });
  }

  /** Changes objects at a constant rate, without waiting for earlier changes. */
  async change({ changesPerSecond, durationMs, onReconciled, signal }: ChangeOptions): Promise<void> {
    const startedAtMs = performance.now();
    const changes = Math.floor((changesPerSecond * durationMs) / 1000);
    const running: Promise<void>[] = [];
    for (let index = 0; index < changes; index++) {
      const waitMs = startedAtMs + (index * 1000) / changesPerSecond - performance.now();
      if (waitMs > 1) await systemClock.sleep(waitMs, signal ? { signal } : {});
      running.push(this.#changeOne(index, onReconciled));
    }
    await Promise.all(running);
  }

  async #changeOne(index: number, onReconciled: (latencyMs: number) => void): Promise<void> {
    const name = nameOf((index * 7919) % this.#count);
    const before = this.#observed.find(`default/${name}`)?.generation ?? 0;
    const { promise, resolve } = Promise.withResolvers<number>();
    this.#awaited.set(name, { generation: before + 1, done: () => resolve(performance.now()) });
    const body = [{ op: 'replace' as const, path: '/spec/jobs/0/targetSize', value: 10 + index }];
    await this.#client.patch({ namespace: 'default', name }, { type: 'json', body });
    const takenAtMs = performance.now();
    const observedAtMs = await promise;
    this.#awaited.delete(name);
    onReconciled(Math.max(0, observedAtMs - takenAtMs));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#observed[Symbol.asyncDispose]();
  }
}

function nameOf(index: number): string {
  return `web-${index}`;
}

function objectNamed(name: string) {
  const { group, version, kind } = CRON_HPA;
  const [hour, minute] = [Number(name.slice(4)) % 24, Number(name.slice(4)) % 60];
  return {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { namespace: 'default', name },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      jobs: [
        // Never due during a measurement: on January 1, at varying times.
        { name: 'up', schedule: `0 ${minute} ${hour} 1 1 *`, targetSize: 9, timeZone: 'Europe/Berlin' },
        { name: 'down', schedule: `30 ${minute} ${hour} 1 1 *`, targetSize: 3, timeZone: 'Europe/Berlin' },
      ],
    },
  };
}

function readObserved(object: unknown): Observed | undefined {
  const metadata = propertyOf(object, 'metadata');
  const name = propertyOf(metadata, 'name');
  const generation = propertyOf(metadata, 'generation');
  const observed = propertyOf(propertyOf(object, 'status'), 'observedGeneration');
  if (typeof name !== 'string' || typeof generation !== 'number') return undefined;
  return { name, generation, observedGeneration: typeof observed === 'number' ? observed : 0 };
}
