import type { ApiClient } from '#lib/kubernetes/api-client.ts';
import { ObjectCache } from '#lib/kubernetes/object-cache.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { LivePod, LivePods } from './live-pods.ts';
import { PodReducer } from './pod-reducer.ts';

/** What a pod cache works with. */
export interface PodCacheOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Follows the cluster's running pods by their metadata alone. */
export class PodCache implements LivePods, AsyncDisposable {
  readonly #cache: ObjectCache<LivePod>;

  constructor({ client, clock, logger }: PodCacheOptions) {
    const reducer = new PodReducer();
    this.#cache = new ObjectCache({
      client,
      clock,
      logger,
      collection: { path: '/api/v1/pods', fieldSelector: 'status.phase=Running', metadataOnly: true },
      reduce: (pod) => reducer.reduce(pod),
    });
  }

  /** Begins to list and watch; comes back at once. */
  start(): void {
    this.#cache.start();
  }

  get isSynced(): boolean {
    return this.#cache.isSynced;
  }

  /** Waits until {@link isSynced}; throws when the signal aborts, or the cache is disposed, first. */
  async synced(signal?: AbortSignal): Promise<void> {
    await this.#cache.synced(signal);
  }

  get size(): number {
    return this.#cache.size;
  }

  get revision(): number {
    return this.#cache.revision;
  }

  get(namespace: string, name: string): LivePod | undefined {
    return this.#cache.get(`${namespace}/${name}`);
  }

  values(): Iterable<LivePod> {
    return this.#cache.values();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cache[Symbol.asyncDispose]();
  }
}
