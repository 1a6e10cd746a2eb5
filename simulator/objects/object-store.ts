import { randomUUID } from 'node:crypto';
import type { Clock } from '#lib/time/clock.ts';
import { formatTimestamp, type KubernetesObject, type NewObject } from './kubernetes-object.ts';

/** One change of one object. */
export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** Plural name of the resource, such as `pods`. */
  readonly resource: string;
  readonly resourceVersion: number;
  /** The new state; for a deleted object the last state, with the version of the deletion. */
  readonly object: KubernetesObject;
  /** The previous state; `undefined` for a new object. */
  readonly previous: KubernetesObject | undefined;
}

/** Every object of one resource at one moment, in key order. */
export interface StoreSnapshot {
  readonly resourceVersion: number;
  readonly items: readonly KubernetesObject[];
}

/** An error of a write to the store. */
export class StoreError extends Error {
  readonly kind: 'AlreadyExists' | 'NotFound' | 'Conflict';

  constructor(kind: StoreError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

const MAX_SNAPSHOTS = 64;

/**
 * Objects by resource and key, one version counter for all of them, a bounded history from which watches resume, and
 * the snapshots of continue tokens: etcd and watch cache of the API server.
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

  /** @param historyLimit number of changes from which watches can resume */
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

  /** @throws StoreError when the object exists */
  create(resource: string, draft: NewObject): KubernetesObject {
    const { objects } = this.#table(resource);
    const key = keyOf(draft.metadata.namespace, draft.metadata.name);
    if (objects.has(key))
      throw new StoreError('AlreadyExists', `${resource} "${draft.metadata.name}" already exists`);
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
   * Updates an object; its identity does not change.
   *
   * @throws StoreError when it does not exist, or the new state was made from an older version
   */
  update(resource: string, next: NewObject): KubernetesObject {
    const previous = this.#existing(resource, next.metadata.namespace, next.metadata.name);
    const { resourceVersion: basis } = next.metadata;
    if (basis !== undefined && basis !== previous.metadata.resourceVersion)
      throw new StoreError(
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

  /** @throws StoreError when there is no such object */
  delete(resource: string, namespace: string | undefined, name: string): KubernetesObject {
    const previous = this.#existing(resource, namespace, name);
    const version = this.#resourceVersion + 1;
    const object = withResourceVersion(previous, version);
    this.#commit({ type: 'DELETED', resource, resourceVersion: version, object, previous });
    return object;
  }

  /** Lists all objects of a resource; the snapshot stays available by its version for some time. */
  list(resource: string): StoreSnapshot {
    const snapshot = { resourceVersion: this.#resourceVersion, items: this.#table(resource).sorted() };
    const key = snapshotKey(resource, snapshot.resourceVersion);
    this.#snapshots.delete(key);
    this.#snapshots.set(key, snapshot);
    for (const oldest of this.#snapshots.keys()) {
      if (this.#snapshots.size <= MAX_SNAPSHOTS) break;
      this.#snapshots.delete(oldest);
    }
    return snapshot;
  }

  /** @returns `undefined` when there is no list of that version, or it is evicted */
  snapshotAt(resource: string, resourceVersion: number): StoreSnapshot | undefined {
    return this.#snapshots.get(snapshotKey(resource, resourceVersion));
  }

  /** @returns the changes after a version, or `undefined` when some of them are evicted */
  eventsSince(resource: string, resourceVersion: number): readonly StoreEvent[] | undefined {
    if (resourceVersion < this.#oldestWatchableVersion) return undefined;
    const start = lowerBound(this.#history, (event) => event.resourceVersion > resourceVersion);
    return this.#history.slice(start).filter((event) => event.resource === resource);
  }

  /** Calls the listener at each later change, synchronously. */
  subscribe(listener: (event: StoreEvent) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** Removes history and snapshots, as etcd's compaction does: older versions are expired. */
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
    if (!object) throw new StoreError('NotFound', `${resource} "${name}" not found`);
    return object;
  }

  #commit(event: StoreEvent): void {
    this.#resourceVersion = event.resourceVersion;
    this.#table(event.resource).apply(event);
    this.#history.push(event);
    // Trimmed in halves: moving the rest is amortized over many changes.
    if (this.#history.length > this.#historyLimit * 2) {
      const evicted = this.#history.splice(0, this.#history.length - this.#historyLimit);
      this.#oldestWatchableVersion = evicted.at(-1)?.resourceVersion ?? this.#oldestWatchableVersion;
    }
    for (const listener of this.#listeners) listener(event);
  }
}

/** The objects of one resource, sorted when they are listed after keys have changed. */
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

/** The key of an object, ordered as in etcd, by the bytes of the whole key: `a-b/x` comes before `a/x`. */
export function keyOf(namespace: string | undefined, name: string): string {
  return `/${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

function snapshotKey(resource: string, resourceVersion: number): string {
  return `${resource}@${resourceVersion}`;
}

function withResourceVersion(object: KubernetesObject, version: number): KubernetesObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
}

/** Index of the first item of a sorted array for which a condition is true; the length when there is none. */
export function lowerBound<T>(sorted: readonly T[], isTrue: (item: T) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = sorted[middle];
    if (item !== undefined && isTrue(item)) high = middle;
    else low = middle + 1;
  }
  return low;
}
