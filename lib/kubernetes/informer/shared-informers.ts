import { isDeepStrictEqual } from 'node:util';
import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ApiClient } from '../client/api-client.ts';
import { type ApiResource, collectionPath } from '../client/api-resource.ts';
import type { RestMapper } from '../client/rest-mapper.ts';
import { Informer } from './informer.ts';
import type { NamespaceBudgetOptions } from './namespace-budget.ts';
import type { IndexFunction, ObjectChange } from './object-store.ts';
import type { InformerState } from './reflector.ts';
import { waitUntilServed } from './wait-until-served.ts';

/** A kind of objects as informers cache it: one constant for each kind, which all of its users import. */
export interface InformedKind<T, Needs = undefined> {
  readonly resource: Omit<ApiResource, 'version' | 'subresources'>;
  /** Supported versions in order of preference. */
  readonly versions: readonly string[];
  /**
   * Makes the decoder of one version.
   *
   * @param needs of each user of the kind; fields that no user needs are left out, which saves memory
   * @returns decodes an object; `undefined` for one that is not cached
   */
  decoder(needs: readonly Needs[], version: string): (value: unknown) => T | undefined;
  /** Bounds what is cached of one namespace; unbounded by default. */
  readonly budget?: NamespaceBudgetOptions<T>;
}

/** Requirements of one user of a kind. */
type InformerUse<T, Needs, View = T> = {
  /**
   * Indexes of the user, by name. One function is one index, however many use it: it must return the same keys for an
   * object in the view of each.
   */
  readonly indexes?: Readonly<Record<string, IndexFunction<NoInfer<View>>>>;
  /** Namespaces of the cached objects; all if empty. */
  readonly namespaces?: readonly string[];
  /** Interval of lists where watching is forbidden; by default that is a failure. */
  readonly relistMs?: number;
  /**
   * The user's view of an object; `undefined` hides it. An object that all users hide is not cached, and where all
   * users have a view, their views are cached in place of the object.
   */
  readonly view?: (object: T) => View | undefined;
} & (undefined extends Needs ? { readonly needs?: Needs } : { readonly needs: Needs });

/** One user's share of an informer: over all namespaces or several, and with its own view. */
export interface SharedInformer<T> {
  /** Of the scope that is furthest from being synced. */
  readonly state: InformerState;
  /** Whether everything has been listed, at least once. */
  readonly isSynced: boolean;
  readonly size: number;
  /** Begins to list and watch, unless another user has done so; returns at once. */
  start(): void;
  /**
   * Waits until the API server serves the kind.
   *
   * @returns the resource, in the cached version
   * @throws the signal's reason when it aborts first
   */
  served(signal: AbortSignal): Promise<ApiResource>;
  /**
   * Waits until {@link isSynced}.
   *
   * @throws the signal's reason when it aborts first, and an Error once disposed
   */
  synced(signal?: AbortSignal): Promise<void>;
  /** @param key the name of an object or, if it is namespaced, `NAMESPACE/NAME` */
  find(key: string): T | undefined;
  /**
   * The objects that one of the user's indexes finds by a key.
   *
   * @throws where there is no such index
   */
  findBy(index: string, indexKey: string): readonly T[];
  values(): Iterable<T>;
  /**
   * Calls a listener with every change that the user sees.
   *
   * @param options `replay` first reports all cached objects as added
   * @returns unsubscribes the listener
   */
  onChange(listener: (change: ObjectChange<T>) => void, options?: { readonly replay?: boolean }): () => void;
}

interface SharedInformersOptions {
  readonly client: ApiClient;
  readonly mapper: Pick<RestMapper, 'findExact'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The informers of a process: each resource is listed and watched once in each scope (a namespace, or all), however
 * many use it. A scope needs no permission that its users would not need separately.
 *
 * Users declare their needs while the process is composed, before any of them starts the informer. An informer waits
 * until the API server serves its kind, and chooses a version again when that one is removed.
 */
export class SharedInformers implements AsyncDisposable {
  readonly #options: SharedInformersOptions;
  readonly #kinds = new Map<string, CachedKind<unknown, unknown>>();
  readonly #disposal = new AbortController();
  readonly #share: EventLoopShare;

  constructor(options: SharedInformersOptions) {
    this.#options = options;
    this.#share = new EventLoopShare(options.clock);
  }

  /** @throws where the resource is cached as another kind already, or has been started: needs are fixed by then */
  get<T, Needs, View = T>(
    kind: InformedKind<T, Needs>,
    use: InformerUse<T, Needs, View>,
  ): SharedInformer<View> {
    const name = `${kind.resource.plural}.${kind.resource.group}`;
    let cached = this.#kinds.get(name) as CachedKind<T, Needs> | undefined;
    if (!cached) {
      cached = new CachedKind(kind, {
        ...{ ...this.#options, share: this.#share, signal: this.#disposal.signal },
      });
      this.#kinds.set(name, cached as CachedKind<unknown, unknown>);
    }
    if (cached.kind !== kind) throw new Error(`Cannot cache ${name}: already cached as another kind`);
    return cached.share(use);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal.abort(new Error('informers are closed'));
    const scopes = [...this.#kinds.values()].flatMap((kind) => [...kind.scopes]);
    await Promise.all(scopes.map(({ informer }) => informer[Symbol.asyncDispose]()));
  }
}

interface CachedKindOptions extends SharedInformersOptions {
  /** Where long events of all kinds are processed. */
  readonly share: EventLoopShare;
  /** Aborts when the informers are disposed. */
  readonly signal: AbortSignal;
}

/** One kind: its resource, and an informer for each scope. */
class CachedKind<T, Needs> {
  readonly kind: InformedKind<T, Needs>;
  readonly #options: CachedKindOptions;
  readonly #scopes = new Map<string, Scope<T, Needs>>();
  #served: Promise<ApiResource> | undefined;

  constructor(kind: InformedKind<T, Needs>, options: CachedKindOptions) {
    this.kind = kind;
    this.#options = options;
  }

  get scopes(): Iterable<Scope<T, Needs>> {
    return this.#scopes.values();
  }

  share<View>(use: InformerUse<T, Needs, View>): SharedInformer<View> {
    const { namespaces = [] } = use;
    const isNamespaced = this.kind.resource.namespaced && namespaces.length > 0;
    const scopes = (isNamespaced ? [...new Set(namespaces)] : ['']).map((namespace) => {
      const scope = this.#scopes.get(namespace) ?? new Scope(this, { ...this.#options, namespace });
      this.#scopes.set(namespace, scope);
      const see = scope.declare(use as InformerUse<T, Needs, unknown>);
      return { scope, see: see as Part<T, Needs, View>['see'] };
    });
    return new Share(this, scopes, use);
  }

  /** Waits until the kind is served. */
  async served(signal: AbortSignal): Promise<ApiResource> {
    this.#served ??= waitUntilServed({ ...this.kind.resource, versions: this.kind.versions }, this.#options);
    this.#served.catch(() => {}); // the caller that started the wait may have left
    return await raceAbort(this.#served, signal);
  }

  /** The version was removed, or the kind was: the next caller discovers it again. */
  lose(): void {
    this.#served = undefined;
  }
}

/** An object or, where each user has a view, the view of the only user or the views of all in their order. */
type Cached<T> = T | NonNullable<unknown> | readonly unknown[];

/** The informer of one kind in one namespace, or in all. */
class Scope<T, Needs> {
  readonly informer: Informer<Cached<T>>;
  readonly #kind: CachedKind<T, Needs>;
  readonly #uses: InformerUse<T, Needs, unknown>[] = [];
  readonly #indexes = new Map<IndexFunction<never>, string>();
  #decode: (value: unknown) => T | undefined = () => undefined;
  #hasStarted = false;
  #relistMs: number | undefined;

  constructor(kind: CachedKind<T, Needs>, options: CachedKindOptions & { readonly namespace: string }) {
    const { namespace, client, clock, logger, share } = options;
    this.#kind = kind;
    this.informer = new Informer<Cached<T>>({
      ...{ client, clock, logger, share, relistMs: () => this.#relistMs },
      budget: kind.kind.budget as NamespaceBudgetOptions<Cached<T>> | undefined,
      collection: {
        resource: kind.kind.resource.plural,
        locate: async (signal) => {
          const served = await kind.served(signal);
          const needs = this.#uses.map((use) => use.needs as Needs);
          this.#decode = kind.kind.decoder(needs, served.version);
          return { path: collectionPath(served, namespace) };
        },
        lose: () => kind.lose(),
      },
      transform: (value) => this.#reduce(value),
    });
  }

  /**
   * @returns the user's view of a cached object;
   * @throws once it has started
   */
  declare(use: InformerUse<T, Needs, unknown>): (cached: Cached<T> | undefined) => unknown {
    const { plural } = this.#kind.kind.resource;
    if (this.#hasStarted) throw new Error(`Cannot add user of ${plural}: the informer is running`);
    const position = this.#uses.push(use) - 1;
    const see = (cached: Cached<T> | undefined) => this.#viewed(cached, position);
    for (const index of Object.values(use.indexes ?? {})) {
      if (this.#indexes.has(index)) continue;
      const name = `${this.#indexes.size}`;
      this.#indexes.set(index, name);
      this.informer.addIndex(name, (cached) => {
        const viewed = see(cached);
        return viewed === undefined ? [] : index(viewed);
      });
    }
    const periods = this.#uses.flatMap(({ relistMs }) => relistMs ?? []);
    if (periods.length > 0) this.#relistMs = Math.min(...periods);
    return see;
  }

  start(): void {
    this.#hasStarted = true;
    this.informer.start();
  }

  findBy(index: IndexFunction<never>, indexKey: string): readonly Cached<T>[] {
    return this.informer.findBy(this.#indexes.get(index) ?? '', indexKey);
  }

  /** Whether a user sees decoded objects, or a budget counts them. */
  get #cachesObjects(): boolean {
    return this.#kind.kind.budget !== undefined || this.#uses.some(({ view }) => !view);
  }

  #reduce(value: unknown): Cached<T> | undefined {
    const object = this.#decode(value);
    if (object === undefined || this.#cachesObjects) return object;
    const [first, ...others] = this.#uses.map(({ view }) => view?.(object));
    if (others.length === 0) return first as Cached<T> | undefined;
    return [first, ...others].some((view) => view !== undefined) ? [first, ...others] : undefined;
  }

  #viewed(cached: Cached<T> | undefined, position: number): unknown {
    if (cached === undefined) return undefined;
    if (!this.#cachesObjects)
      return this.#uses.length === 1 ? cached : (cached as readonly unknown[])[position];
    const { view } = this.#uses[position] ?? {};
    return view ? view(cached as T) : cached;
  }
}

/** One scope as a user sees it. */
interface Part<T, Needs, View> {
  readonly scope: Scope<T, Needs>;
  readonly see: (cached: Cached<T> | undefined) => View | undefined;
}

class Share<T, Needs, View> implements SharedInformer<View> {
  readonly #kind: CachedKind<T, Needs>;
  readonly #parts: readonly Part<T, Needs, View>[];
  readonly #indexes: ReadonlyMap<string, IndexFunction<View>>;
  readonly #hasView: boolean;

  constructor(
    kind: CachedKind<T, Needs>,
    parts: readonly Part<T, Needs, View>[],
    { indexes = {}, view }: InformerUse<T, Needs, View>,
  ) {
    this.#kind = kind;
    this.#parts = parts;
    this.#indexes = new Map(Object.entries(indexes));
    this.#hasView = view !== undefined;
  }

  get #informers(): readonly Informer<Cached<T>>[] {
    return this.#parts.map(({ scope }) => scope.informer);
  }

  get state(): InformerState {
    const informers = this.#informers;
    return (informers.find(({ isSynced }) => !isSynced) ?? informers[0])?.state ?? 'idle';
  }

  get isSynced(): boolean {
    return this.#parts.every(({ scope }) => scope.informer.isSynced);
  }

  get size(): number {
    if (!this.#hasView) return this.#informers.reduce((sum, { size }) => sum + size, 0);
    let size = 0;
    for (const _ of this.values()) size++;
    return size;
  }

  start(): void {
    for (const { scope } of this.#parts) scope.start();
  }

  async served(signal: AbortSignal): Promise<ApiResource> {
    return await this.#kind.served(signal);
  }

  async synced(signal?: AbortSignal): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.synced(signal)));
  }

  find(key: string): View | undefined {
    for (const { scope, see } of this.#parts) {
      const found = scope.informer.find(key);
      if (found !== undefined) return see(found);
    }
    return undefined;
  }

  findBy(name: string, indexKey: string): readonly View[] {
    const index = this.#indexes.get(name);
    if (!index) throw new Error(`Cannot look up "${indexKey}": index ${name} not found`);
    return this.#parts.flatMap(({ scope, see }) =>
      scope.findBy(index, indexKey).flatMap((cached) => see(cached) ?? []),
    );
  }

  *values(): Iterable<View> {
    for (const { scope, see } of this.#parts)
      for (const cached of scope.informer.values()) {
        const viewed = see(cached);
        if (viewed !== undefined) yield viewed;
      }
  }

  onChange(
    listener: (change: ObjectChange<View>) => void,
    options: { readonly replay?: boolean } = {},
  ): () => void {
    const endings = this.#parts.map(({ scope, see }) =>
      scope.informer.onChange((change) => {
        const [previous, current] = [see(change.previous), see(change.current)];
        const isSame = this.#hasView && isDeepStrictEqual(previous, current);
        if (!isSame) listener({ key: change.key, previous, current });
      }, options),
    );
    return () => {
      for (const end of endings) end();
    };
  }
}
