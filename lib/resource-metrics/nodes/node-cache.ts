import type { ApiClient } from '#lib/kubernetes/api-client.ts';
import { ObjectCache } from '#lib/kubernetes/object-cache.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { LiveNode, LiveNodes } from './live-nodes.ts';
import { reduceNode } from './reduce-node.ts';

/** What a node cache works with. */
export interface NodeCacheOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A label selector; empty or absent admits every node. */
  readonly selector?: string | undefined;
}

/** Follows the cluster's nodes, or those that a label selector admits. */
export class NodeCache implements LiveNodes, AsyncDisposable {
  readonly #cache: ObjectCache<LiveNode>;

  constructor({ client, clock, logger, selector }: NodeCacheOptions) {
    this.#cache = new ObjectCache({
      client,
      clock,
      logger,
      collection: { path: '/api/v1/nodes', labelSelector: selector },
      reduce: reduceNode,
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

  get(name: string): LiveNode | undefined {
    return this.#cache.get(name);
  }

  values(): Iterable<LiveNode> {
    return this.#cache.values();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cache[Symbol.asyncDispose]();
  }
}
