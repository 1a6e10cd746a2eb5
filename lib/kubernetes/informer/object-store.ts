import { isDeepStrictEqual } from 'node:util';
import { LruMap } from '#lib/cache/lru-map.ts';

/** An object as of one version. */
export interface VersionedObject<T> {
  /** NaN where it is unknown: then it counts as the latest. */
  readonly version: number;
  readonly value: T;
}

/** Deletions that are remembered for events that arrive late. */
const MAX_DELETIONS = 1024;

/**
 * Objects by key, each in its latest version; an older one that arrives late is ignored. An object that does not change
 * remains the same object.
 */
export class ObjectStore<T> {
  #entries = new Map<string, VersionedObject<T>>();
  readonly #deletions = new LruMap<string, number>({ max: MAX_DELETIONS });
  /** The last list includes all changes up to this version, also deletions. */
  #listedVersion = Number.NEGATIVE_INFINITY;
  readonly #notify: (change: ObjectChange<T>) => void;
  readonly #indexes = new Map<string, ObjectIndex<T>>();

  /** @param changed receives each change after objects and indexes have been updated */
  constructor(
    changed: (change: ObjectChange<T>) => void,
    indexes: Readonly<Record<string, IndexFunction<T>>> = {},
  ) {
    this.#notify = changed;
    for (const [name, indexKeysOf] of Object.entries(indexes)) this.addIndex(name, indexKeysOf);
  }

  /** Adds an index of current and future objects. */
  addIndex(name: string, indexKeysOf: IndexFunction<T>): void {
    const index = new ObjectIndex(indexKeysOf);
    for (const addition of this.additions()) index.apply(addition);
    this.#indexes.set(name, index);
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key)?.value;
  }

  getVersioned(key: string): VersionedObject<T> | undefined {
    return this.#entries.get(key);
  }

  *values(): Generator<T, void, void> {
    for (const { value } of this.#entries.values()) yield value;
  }

  /**
   * The objects that an index finds by a key.
   *
   * @throws where there is no such index
   */
  find(index: string, indexKey: string): T[] {
    const found = this.#indexes.get(index);
    if (!found) throw new Error(`Cannot look up "${indexKey}": index ${index} not found`);
    const values: T[] = [];
    for (const key of found.keys(indexKey)) {
      const value = this.get(key);
      if (value !== undefined) values.push(value);
    }
    return values;
  }

  /** All objects, as if they were just added. */
  *additions(): Generator<ObjectChange<T>, void, void> {
    for (const [key, { value }] of this.#entries) yield { key, previous: undefined, current: value };
  }

  /** The cached object if it equals the given one, else the given one. */
  reuse(key: string, value: T): T {
    const cached = this.#entries.get(key);
    return cached && isDeepStrictEqual(cached.value, value) ? cached.value : value;
  }

  set(key: string, { version, value }: VersionedObject<T>): void {
    const cached = this.#entries.get(key);
    if (version <= (cached?.version ?? this.#deletions.peek(key) ?? this.#listedVersion)) return;
    this.#put(key, { version, value });
  }

  /** Sets an object that was read again: in the version that is cached, too, because only a part of it may be cached. */
  setAgain(key: string, object: VersionedObject<T>): void {
    if (object.version === this.#entries.get(key)?.version) this.#put(key, object);
    else this.set(key, object);
  }

  #put(key: string, { version, value }: VersionedObject<T>): void {
    const cached = this.#entries.get(key);
    this.#deletions.delete(key);
    const current = this.reuse(key, value);
    this.#entries.set(key, { version, value: current });
    if (current !== cached?.value) this.#changed({ key, previous: cached?.value, current });
  }

  /** @param last the final state of the object, if it is known; else the cached one */
  delete(key: string, version: number, last?: T): void {
    const cached = this.#entries.get(key);
    if (cached && version < cached.version) return;
    this.#recordDeletion(key, version);
    if (!cached) return;
    const previous = last === undefined ? cached.value : this.reuse(key, last);
    this.#entries.delete(key);
    this.#index({ key, previous: cached.value, current: undefined });
    this.#notify({ key, previous, current: undefined });
  }

  /**
   * Replaces all objects by those of a list, which is newer than everything before it.
   *
   * @param listedVersion version of the list: a late event up to this version restores nothing
   */
  replace(listed: Map<string, VersionedObject<T>>, listedVersion = Number.NEGATIVE_INFINITY): void {
    const before = this.#entries;
    this.#entries = listed;
    this.#listedVersion = listedVersion;
    this.#deletions.clear();
    const changes: ObjectChange<T>[] = [];
    for (const [key, { value }] of listed) {
      const previous = before.get(key)?.value;
      if (value !== previous) changes.push({ key, previous, current: value });
    }
    for (const [key, { value }] of before) {
      if (!listed.has(key)) changes.push({ key, previous: value, current: undefined });
    }
    for (const change of changes) this.#index(change);
    for (const change of changes) this.#notify(change);
  }

  #changed(change: ObjectChange<T>): void {
    this.#index(change);
    this.#notify(change);
  }

  #index(change: ObjectChange<T>): void {
    for (const index of this.#indexes.values()) index.apply(change);
  }

  #recordDeletion(key: string, version: number): void {
    if (Number.isNaN(version)) return;
    this.#deletions.set(key, Math.max(version, this.#deletions.peek(key) ?? version));
  }
}

/** The keys by which an index finds an object: for example, the names of objects that it refers to. */
export type IndexFunction<T> = (object: T) => Iterable<string>;

/** The keys of objects by index key. */
export class ObjectIndex<T> {
  readonly #indexKeysOf: IndexFunction<T>;
  /** A single key needs no set, which would take 200 bytes. */
  readonly #keys = new Map<string, string | Set<string>>();

  constructor(indexKeysOf: IndexFunction<T>) {
    this.#indexKeysOf = indexKeysOf;
  }

  /** The keys of the objects that are found by an index key. */
  keys(indexKey: string): Iterable<string> {
    const keys = this.#keys.get(indexKey) ?? [];
    return typeof keys === 'string' ? [keys] : keys;
  }

  /** Updates the index after a change of an object. */
  apply({ key, previous, current }: ObjectChange<T>): void {
    for (const indexKey of this.#indexKeys(previous)) this.#remove(indexKey, key);
    for (const indexKey of this.#indexKeys(current)) this.#add(indexKey, key);
  }

  #add(indexKey: string, key: string): void {
    const keys = this.#keys.get(indexKey);
    if (keys === undefined) this.#keys.set(indexKey, key);
    else if (typeof keys !== 'string') keys.add(key);
    else if (keys !== key) this.#keys.set(indexKey, new Set([keys, key]));
  }

  #remove(indexKey: string, key: string): void {
    const keys = this.#keys.get(indexKey);
    if (keys === key) this.#keys.delete(indexKey);
    else if (keys instanceof Set && keys.delete(key) && keys.size === 0) this.#keys.delete(indexKey);
  }

  /** An object for which the function throws is not indexed. */
  #indexKeys(object: T | undefined): string[] {
    if (object === undefined) return [];
    try {
      return [...this.#indexKeysOf(object)];
    } catch {
      return [];
    }
  }
}

/** The change of one object: `previous` is `undefined` for an added one, `current` for a deleted one. */
export interface ObjectChange<T> {
  readonly key: string;
  readonly previous: T | undefined;
  readonly current: T | undefined;
}
