import { randomUUID } from 'node:crypto';
import type { Clock } from '#lib/time/clock.ts';
import { formatTimestamp, type KubernetesObject, type NewObject } from './kubernetes-object.ts';

/** One change of one object, as watches tell it. */
export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** Plural name of the resource, such as `pods`. */
  readonly resource: string;
  readonly resourceVersion: number;
  /** The new state; of a deleted object the last one, with the version of its deletion. */
  readonly object: KubernetesObject;
  /** The state before; `undefined` for a new object. */
  readonly previous: KubernetesObject | undefined;
}

/** Every object of one resource at one moment, in key order. */
export interface StoreSnapshot {
  readonly resourceVersion: number;
  readonly items: readonly KubernetesObject[];
}

/** Why the store refuses a write. */
export class StoreConflict extends Error {
  readonly kind: 'AlreadyExists' | 'NotFound' | 'Conflict';

  constructor(kind: StoreConflict['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

const SNAPSHOTS_KEPT = 64;

/**
 * What etcd and the watch cache are to an API server: objects by resource and key, one version counter for all
 * of them, a bounded history for watches to resume from, and the snapshots that continue tokens refer to.
 */
export class ObjectStore {
  readonly #clock: Clock;
  readonly #historyLimit: number;
  readonly #resources = new Map<string, ResourceTable>();
  readonly #listeners = new Set<(event: StoreEvent) => void>();
  readonly #snapshots = new Map<string, StoreSnapshot>();
  #history: StoreEvent[] = [];
  #resourceVersion = 1;
  #oldestWatchableVersion = 1;

  /** @param historyLimit how many changes are kept for watches to resume from */
  constructor(clock: Clock, { historyLimit = 20_000 }: { readonly historyLimit?: number } = {}) {
    this.#clock = clock;
    this.#historyLimit = historyLimit;
  }

  /** The version of the latest change. */
  get resourceVersion(): number {
    return this.#resourceVersion;
  }

  get(resource: string, namespace: string | undefined, name: string): KubernetesObject | undefined {
    return this.#table(resource).objects.get(keyOf(namespace, name));
  }

  /** @throws StoreConflict when the object exists */
  create(resource: string, draft: NewObject): KubernetesObject {
    const { objects } = this.#table(resource);
    const key = keyOf(draft.metadata.namespace, draft.metadata.name);
    if (objects.has(key))
      throw new StoreConflict('AlreadyExists', `${resource} "${draft.metadata.name}" already exists`);
    const version = this.#resourceVersion + 1;
    const { name, generateName, namespace, ...rest } = draft.metadata;
    const object: KubernetesObject = {
      ...draft,
      metadata: {
        name,
        ...(generateName === undefined ? {} : { generateName }),
        ...(namespace === undefined ? {} : { namespace }),
        uid: randomUUID(),
        resourceVersion: String(version),
        creationTimestamp: formatTimestamp(this.#clock.nowMs()),
        ...rest,
      },
    };
    this.#commit({ type: 'ADDED', resource, resourceVersion: version, object, previous: undefined });
    return object;
  }

  /**
   * Puts a new state in an existing object's place; what identifies it stays.
   *
   * @throws StoreConflict when there is none, or the new state was made from an older version
   */
  update(resource: string, next: NewObject): KubernetesObject {
    const previous = this.#existing(resource, next.metadata.namespace, next.metadata.name);
    const { resourceVersion: basis } = next.metadata;
    if (basis !== undefined && basis !== previous.metadata.resourceVersion)
      throw new StoreConflict(
        'Conflict',
        'the object has been modified; please apply your changes to the latest version and try again',
      );
    const version = this.#resourceVersion + 1;
    const object: KubernetesObject = {
      ...next,
      metadata: {
        ...next.metadata,
        uid: previous.metadata.uid,
        creationTimestamp: previous.metadata.creationTimestamp,
        resourceVersion: String(version),
      },
    };
    this.#commit({ type: 'MODIFIED', resource, resourceVersion: version, object, previous });
    return object;
  }

  /** @throws StoreConflict when there is no such object */
  delete(resource: string, namespace: string | undefined, name: string): KubernetesObject {
    const previous = this.#existing(resource, namespace, name);
    const version = this.#resourceVersion + 1;
    const object = withResourceVersion(previous, version);
    this.#commit({ type: 'DELETED', resource, resourceVersion: version, object, previous });
    return object;
  }

  /** Everything of one resource now; the snapshot can be asked for again by its version for some time. */
  list(resource: string): StoreSnapshot {
    const snapshot = { resourceVersion: this.#resourceVersion, items: this.#table(resource).sorted() };
    const key = snapshotKey(resource, snapshot.resourceVersion);
    this.#snapshots.delete(key);
    this.#snapshots.set(key, snapshot);
    for (const oldest of this.#snapshots.keys()) {
      if (this.#snapshots.size <= SNAPSHOTS_KEPT) break;
      this.#snapshots.delete(oldest);
    }
    return snapshot;
  }

  /** @returns `undefined` when nobody listed at that version, or too long ago */
  snapshotAt(resource: string, resourceVersion: number): StoreSnapshot | undefined {
    return this.#snapshots.get(snapshotKey(resource, resourceVersion));
  }

  /** @returns the changes after a version, or `undefined` when some of them are forgotten */
  eventsSince(resource: string, resourceVersion: number): readonly StoreEvent[] | undefined {
    if (resourceVersion < this.#oldestWatchableVersion) return undefined;
    const start = lowerBound(this.#history, (event) => event.resourceVersion > resourceVersion);
    return this.#history.slice(start).filter((event) => event.resource === resource);
  }

  /** Calls back on every later change, within the call that makes it. */
  subscribe(listener: (event: StoreEvent) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** Forgets history and snapshots as etcd's compaction does: every older version is gone from now on. */
  compact(): void {
    this.#history = [];
    this.#snapshots.clear();
    this.#oldestWatchableVersion = this.#resourceVersion;
  }

  #table(resource: string): ResourceTable {
    const table = this.#resources.get(resource) ?? new ResourceTable();
    this.#resources.set(resource, table);
    return table;
  }

  #existing(resource: string, namespace: string | undefined, name: string): KubernetesObject {
    const object = this.get(resource, namespace, name);
    if (!object) throw new StoreConflict('NotFound', `${resource} "${name}" not found`);
    return object;
  }

  #commit(event: StoreEvent): void {
    this.#resourceVersion = event.resourceVersion;
    this.#table(event.resource).apply(event);
    this.#history.push(event);
    // Trimmed in halves, so that the cost of moving the rest is spread over many changes.
    if (this.#history.length > this.#historyLimit * 2) {
      const forgotten = this.#history.splice(0, this.#history.length - this.#historyLimit);
      this.#oldestWatchableVersion = forgotten.at(-1)?.resourceVersion ?? this.#oldestWatchableVersion;
    }
    for (const listener of this.#listeners) listener(event);
  }
}

/** The objects of one resource; sorts again only when asked after a change of its keys. */
class ResourceTable {
  readonly objects = new Map<string, KubernetesObject>();
  #keys: string[] | undefined;
  #items: readonly KubernetesObject[] | undefined;

  apply({ type, object }: StoreEvent): void {
    const key = keyOf(object.metadata.namespace, object.metadata.name);
    this.#items = undefined;
    if (type !== 'MODIFIED') this.#keys = undefined;
    if (type === 'DELETED') this.objects.delete(key);
    else this.objects.set(key, object);
  }

  sorted(): readonly KubernetesObject[] {
    this.#keys ??= [...this.objects.keys()].sort();
    this.#items ??= this.#collect(this.#keys);
    return this.#items;
  }

  #collect(keys: readonly string[]): readonly KubernetesObject[] {
    const items: KubernetesObject[] = [];
    for (const key of keys) {
      const object = this.objects.get(key);
      if (object) items.push(object);
    }
    return items;
  }
}

/** Orders as etcd does, by the bytes of the whole key: `a-b/x` comes before `a/x`. */
export function keyOf(namespace: string | undefined, name: string): string {
  return `/${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

function snapshotKey(resource: string, resourceVersion: number): string {
  return `${resource}@${resourceVersion}`;
}

function withResourceVersion(object: KubernetesObject, version: number): KubernetesObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
}

/** Index of the first item of a sorted array from which on a claim holds; the length where it never does. */
export function lowerBound<T>(sorted: readonly T[], holds: (item: T) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = sorted[middle];
    if (item !== undefined && holds(item)) high = middle;
    else low = middle + 1;
  }
  return low;
}
