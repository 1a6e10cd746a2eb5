import type { FairShare } from '#lib/concurrency/event-loop.ts';
import { Listeners } from '#lib/concurrency/listeners.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ApiClient } from '../client/api-client.ts';
import type { Collection } from '../client/list-watch.ts';
import type { NamespaceBudgetOptions } from './namespace-budget.ts';
import { type IndexFunction, type ObjectChange, ObjectStore } from './object-store.ts';
import { type InformerState, type LocatedCollection, nameOfCollection, Reflector } from './reflector.ts';

/** What an informer works with. */
export interface InformerOptions<T> {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly collection: Collection | LocatedCollection;
  /**
   * What is kept of an object; `undefined` for one that is of no interest. Throws for one that cannot be read: that is
   * logged by its name, and what was cached of it before stays.
   */
  readonly transform: (object: unknown) => T | undefined;
  /** Bounds what is cached of one namespace; by default nothing does. */
  readonly budget?: NamespaceBudgetOptions<T> | undefined;
  /** Where long events are processed; by default as they arrive. */
  readonly share?: FairShare | undefined;
  /** By which words objects are found, by the names of the indexes; {@link Informer.findBy} looks them up. */
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>> | undefined;
  /** How often the collection is listed where it may be listed and not be watched; by default such a refusal is a failure. */
  readonly relistMs?: number | (() => number | undefined) | undefined;
  /** A number in [0, 1), to spread requests of many clients over time; by default `Math.random`. */
  readonly random?: () => number;
}

/**
 * A collection of the API server, transformed to what its user needs and kept current by list and watch.
 *
 * While the API server cannot be reached, the last known objects stay. An object of which nothing changed that is
 * kept stays the same object.
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
    this.#firstList.promise.catch(() => {}); // nobody need wait for it
  }

  /** Begins to list and watch; comes back at once. */
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

  /** Rises with every change of what is kept. */
  get revision(): number {
    return this.#revision;
  }

  /** What is kept of an object, by its name or, where it is in a namespace, by that and its name. */
  get(...path: readonly [name: string] | readonly [namespace: string, name: string]): T | undefined {
    const [first, second] = path;
    return this.find(second === undefined ? first : `${first}/${second}`);
  }

  /** @param key the name of an object or, where it is in a namespace, `NAMESPACE/NAME` */
  find(key: string): T | undefined {
    return this.#store.get(key);
  }

  /**
   * The objects that one of the informer's indexes finds under a word.
   *
   * @throws where there is no such index
   */
  findBy(index: string, word: string): T[] {
    return [...this.#store.find(index, word)];
  }

  /** Adds an index, which finds what is there already, too. */
  addIndex(name: string, wordsOf: IndexFunction<T>): void {
    this.#store.addIndex(name, wordsOf);
  }

  values(): Iterable<T> {
    return this.#store.values();
  }

  /**
   * Calls a listener with every change of what is kept, as it happens. One that throws costs itself that change.
   *
   * @param options `replay` first tells of all that is there, as if it was added now
   * @returns ends that
   */
  onChange(
    listener: (change: ObjectChange<T>) => void,
    { replay = false }: { readonly replay?: boolean } = {},
  ): () => void {
    return this.#listeners.add(listener, replay ? this.#store.additions() : []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const reason = new Error('the informer is closed');
    this.#disposal.abort(reason);
    this.#firstList.reject(reason);
    await this.#running;
  }
}
