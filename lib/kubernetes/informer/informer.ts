import type { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { Listeners } from '#lib/concurrency/listeners.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ApiClient } from '../client/api-client.ts';
import type { Collection } from '../client/list-watch.ts';
import type { NamespaceBudgetOptions } from './namespace-budget.ts';
import { type IndexFunction, type ObjectChange, ObjectStore } from './object-store.ts';
import { type InformerState, type LocatedCollection, nameOfCollection, Reflector } from './reflector.ts';

export interface InformerOptions<T> {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly collection: Collection | LocatedCollection;
  /**
   * Reduces an object to what is cached; `undefined` for one that is not cached. Throws for one that cannot be read:
   * that is logged by name, and the previously cached value remains.
   */
  readonly transform: (object: unknown) => T | undefined;
  /** Bounds what is cached of one namespace; unbounded by default. */
  readonly budget?: NamespaceBudgetOptions<T> | undefined;
  /** Where long events are processed; by default as they arrive. */
  readonly share?: EventLoopShare | undefined;
  /** Indexes by name, for {@link Informer.findBy}. */
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>> | undefined;
  /** Interval of lists where watching is forbidden; by default that is a failure. */
  readonly relistMs?: number | (() => number | undefined) | undefined;
  /** A number in [0, 1), to spread requests of many clients over time; by default `Math.random`. */
  readonly random?: () => number;
}

/**
 * A collection of the API server, transformed and kept current by list and watch.
 *
 * While the API server is unreachable, the last observed objects remain. An object whose transformed value does not
 * change remains the same object.
 */
export class Informer<T> {
  readonly #store: ObjectStore<T>;
  readonly #reflector: Reflector<T>;
  readonly #listeners: Listeners<ObjectChange<T>>;
  readonly #firstList = Promise.withResolvers<void>();
  readonly #disposal = new AbortController();
  #running: Promise<void> | undefined;
  #isSynced = false;
  #revision = 0;

  constructor(options: InformerOptions<T>) {
    const { clock, logger, collection, indexes } = options;
    this.#listeners = new Listeners({ event: nameOfCollection(collection), clock, logger });
    this.#store = new ObjectStore((change) => {
      this.#revision++;
      this.#listeners.notify(change);
    }, indexes);
    this.#reflector = new Reflector({
      random: Math.random,
      ...options,
      store: this.#store,
      listed: () => {
        this.#isSynced = true;
        this.#firstList.resolve();
      },
    });
    this.#firstList.promise.catch(() => {}); // not every user waits for it
  }

  /** Begins to list and watch; returns at once. */
  start(): void {
    const { signal } = this.#disposal;
    this.#running ??= this.#reflector.run(signal);
  }

  /** Whether the collection has been listed completely, at least once. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /**
   * Waits until {@link isSynced}.
   *
   * @throws the signal's reason when it aborts first, and an Error when the informer is disposed first
   */
  async synced(signal?: AbortSignal): Promise<void> {
    await (signal ? raceAbort(this.#firstList.promise, signal) : this.#firstList.promise);
  }

  get state(): InformerState {
    return this.#reflector.state;
  }

  get size(): number {
    return this.#store.size;
  }

  /** Increases with every change of a cached object. */
  get revision(): number {
    return this.#revision;
  }

  /** The cached value of an object. */
  get(...path: readonly [name: string] | readonly [namespace: string, name: string]): T | undefined {
    const [first, second] = path;
    return this.find(second === undefined ? first : `${first}/${second}`);
  }

  /** @param key the name of an object or, if it is namespaced, `NAMESPACE/NAME` */
  find(key: string): T | undefined {
    return this.#store.get(key);
  }

  /**
   * The objects that an index finds by a key.
   *
   * @throws where there is no such index
   */
  findBy(index: string, indexKey: string): T[] {
    return this.#store.find(index, indexKey);
  }

  /** Adds an index, also of the objects that are cached already. */
  addIndex(name: string, indexKeysOf: IndexFunction<T>): void {
    this.#store.addIndex(name, indexKeysOf);
  }

  values(): Iterable<T> {
    return this.#store.values();
  }

  /**
   * Calls a listener with every change of a cached object, as it happens. One that throws misses that change only.
   *
   * @param options `replay` first reports all cached objects as added
   * @returns unsubscribes the listener
   */
  onChange(
    listener: (change: ObjectChange<T>) => void,
    { replay = false }: { readonly replay?: boolean } = {},
  ): () => void {
    return this.#listeners.add(listener, replay ? this.#store.additions() : []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const reason = new Error('informer is closed');
    this.#disposal.abort(reason);
    this.#firstList.reject(reason);
    await this.#running;
  }
}
