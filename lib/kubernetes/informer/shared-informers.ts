import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ApiClient } from '../client/api-client.ts';
import { Informer, type InformerOptions } from './informer.ts';

/** What informers work with. */
interface InformersOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What is followed, and what is kept of it. */
type FollowOptions<T> = Pick<InformerOptions<T>, 'collection' | 'transform' | 'indexes' | 'resyncMs'>;

interface Shared {
  readonly informer: Informer<unknown>;
  readonly transform: unknown;
}

/** Informers that several controllers use: each collection is listed and watched once. */
export class Informers implements AsyncDisposable {
  readonly #options: InformersOptions;
  readonly #shared = new Map<string, Shared>();

  constructor(options: InformersOptions) {
    this.#options = options;
  }

  /**
   * The informer of a collection, which begins to follow it when it is asked for first.
   *
   * @param options indexes and resync are those of the first who asks
   * @throws where the collection is followed already with another transform, so that other things are kept of it
   */
  of<T>({ collection, transform, ...rest }: FollowOptions<T>): Informer<T> {
    const { path, labelSelector = '', fieldSelector = '', metadataOnly = false } = collection;
    const key = JSON.stringify([path, labelSelector, fieldSelector, metadataOnly]);
    const shared = this.#shared.get(key);
    if (shared && shared.transform !== transform) {
      throw new Error(`Cannot follow ${path}: it is followed already, with another transform`);
    }
    if (shared) return shared.informer as Informer<T>;
    const informer = new Informer<T>({ ...this.#options, collection, transform, ...rest });
    this.#shared.set(key, { informer: informer as Informer<unknown>, transform });
    informer.start();
    return informer;
  }

  /** Waits until all that is followed is known. @throws the signal's reason when it aborts first */
  async synced(signal?: AbortSignal): Promise<void> {
    await Promise.all([...this.#shared.values()].map(({ informer }) => informer.synced(signal)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#shared.values()].map(({ informer }) => informer[Symbol.asyncDispose]()));
  }
}
