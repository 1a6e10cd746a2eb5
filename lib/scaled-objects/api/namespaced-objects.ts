import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { type ApiResource, collectionPath } from '#lib/kubernetes/client/api-resource.ts';
import { Informer } from '#lib/kubernetes/informer/informer.ts';
import type { ObjectChange } from '#lib/kubernetes/informer/object-store.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';

/** What objects are followed with. */
export interface FollowOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where objects are followed; everywhere if there are none. */
  readonly namespaces: readonly string[];
}

/** What is kept of objects, and how they are found. */
interface FollowedKind<T> {
  readonly resource: ApiResource;
  readonly transform: (value: unknown) => T;
  readonly indexes?: Readonly<Record<string, (value: T) => readonly string[]>>;
}

/** Objects of one kind, in all namespaces or in some of them: an informer for each, so that no more has to be allowed. */
export class NamespacedObjects<T> implements AsyncDisposable {
  readonly #informers: readonly Informer<T>[];

  constructor(
    { resource, transform, indexes = {} }: FollowedKind<T>,
    { namespaces, ...options }: FollowOptions,
  ) {
    const places = resource.namespaced && namespaces.length > 0 ? [...new Set(namespaces)] : [undefined];
    this.#informers = places.map(
      (namespace) =>
        new Informer({
          ...options,
          ...{ collection: { path: collectionPath(resource, namespace) }, transform, indexes },
        }),
    );
  }

  start(): void {
    for (const informer of this.#informers) informer.start();
  }

  get isSynced(): boolean {
    return this.#informers.every((informer) => informer.isSynced);
  }

  async synced(signal?: AbortSignal): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.synced(signal)));
  }

  /** @param key the name of an object or, where it is in a namespace, `NAMESPACE/NAME` */
  find(key: string): T | undefined {
    for (const informer of this.#informers) {
      const found = informer.find(key);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  findBy(index: string, word: string): readonly T[] {
    return this.#informers.flatMap((informer) => informer.findBy(index, word));
  }

  *values(): Iterable<T> {
    for (const informer of this.#informers) yield* informer.values();
  }

  onChange(
    listener: (change: ObjectChange<T>) => void,
    options: { readonly replay?: boolean } = {},
  ): () => void {
    const endings = this.#informers.map((informer) => informer.onChange(listener, options));
    return () => {
      for (const end of endings) end();
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer[Symbol.asyncDispose]()));
  }
}
