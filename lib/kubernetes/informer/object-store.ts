import { isDeepStrictEqual } from 'node:util';
import { LruMap } from '#lib/cache/lru-map.ts';

/** An object as of one version. */
export interface VersionedObject<T> {
  /** NaN where it is not known: then it counts as the latest. */
  readonly version: number;
  readonly value: T;
}

/** Deletions are remembered this long against events that come after them but happened before. */
const MAX_DELETIONS = 1024;

/**
 * Objects by key, each as of its latest version; an older one that comes late changes nothing. An object of
 * which nothing changed stays the same object.
 */
export class ObjectStore<T> {
  #entries = new Map<string, VersionedObject<T>>();
  readonly #deletions = new LruMap<string, number>({ max: MAX_DELETIONS });
  /** What happened up to here is in the last list, of objects that are gone, too. */
  #listedVersion = Number.NEGATIVE_INFINITY;
  readonly #tell: (change: ObjectChange<T>) => void;
  readonly #indexes = new Map<string, ObjectIndex<T>>();

  /** @param changed hears of each change when objects and indexes are as they are after it */
  constructor(
    changed: (change: ObjectChange<T>) => void,
    indexes: Readonly<Record<string, IndexFunction<T>>> = {},
  ) {
    this.#tell = changed;
    for (const [name, wordsOf] of Object.entries(indexes)) this.addIndex(name, wordsOf);
  }

  /** Adds an index of what is there and what will be. */
  addIndex(name: string, wordsOf: IndexFunction<T>): void {
    const index = new ObjectIndex(wordsOf);
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
   * The objects that an index finds under a word.
   *
   * @throws where there is no such index
   */
  *find(index: string, word: string): Generator<T, void, void> {
    const found = this.#indexes.get(index);
    if (!found) throw new Error(`Cannot look up "${word}": there is no index ${index}`);
    for (const key of found.keys(word)) {
      const value = this.get(key);
      if (value !== undefined) yield value;
    }
  }

  /** Everything that is there, as if it was added now. */
  *additions(): Generator<ObjectChange<T>, void, void> {
    for (const [key, { value }] of this.#entries) yield { key, previous: undefined, current: value };
  }

  /** The held object if it equals the given one, else the given one. */
  keep(key: string, value: T): T {
    const held = this.#entries.get(key);
    return held && isDeepStrictEqual(held.value, value) ? held.value : value;
  }

  set(key: string, { version, value }: VersionedObject<T>): void {
    const held = this.#entries.get(key);
    if (version <= (held?.version ?? this.#deletions.peek(key) ?? this.#listedVersion)) return;
    this.#deletions.delete(key);
    const current = this.keep(key, value);
    this.#entries.set(key, { version, value: current });
    if (current !== held?.value) this.#changed({ key, previous: held?.value, current });
  }

  /** @param last what the object was at the end, where that is known; else what was held of it */
  delete(key: string, version: number, last?: T): void {
    const held = this.#entries.get(key);
    if (held && version < held.version) return;
    this.#remember(key, version);
    if (!held) return;
    const previous = last === undefined ? held.value : this.keep(key, last);
    this.#entries.delete(key);
    this.#index({ key, previous: held.value, current: undefined });
    this.#tell({ key, previous, current: undefined });
  }

  /**
   * Becomes exactly what a list says, which is newer than everything before it.
   *
   * @param listedVersion of which version the list is: an event up to there that comes late brings nothing back
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
    for (const change of changes) this.#tell(change);
  }

  #changed(change: ObjectChange<T>): void {
    this.#index(change);
    this.#tell(change);
  }

  #index(change: ObjectChange<T>): void {
    for (const index of this.#indexes.values()) index.apply(change);
  }

  #remember(key: string, version: number): void {
    if (Number.isNaN(version)) return;
    this.#deletions.set(key, Math.max(version, this.#deletions.peek(key) ?? version));
  }
}

/** Under which words an object is found: the names of what it refers to, say. */
export type IndexFunction<T> = (object: T) => Iterable<string>;

/** The keys of objects by words. */
export class ObjectIndex<T> {
  readonly #wordsOf: IndexFunction<T>;
  /** A key alone needs no set, which would take 200 bytes. */
  readonly #keys = new Map<string, string | Set<string>>();

  constructor(wordsOf: IndexFunction<T>) {
    this.#wordsOf = wordsOf;
  }

  /** The keys of the objects that are found under a word. */
  keys(word: string): Iterable<string> {
    const keys = this.#keys.get(word) ?? [];
    return typeof keys === 'string' ? [keys] : keys;
  }

  /** Follows a change of the objects. */
  apply({ key, previous, current }: ObjectChange<T>): void {
    for (const word of this.#words(previous)) this.#remove(word, key);
    for (const word of this.#words(current)) this.#add(word, key);
  }

  #add(word: string, key: string): void {
    const keys = this.#keys.get(word);
    if (keys === undefined) this.#keys.set(word, key);
    else if (typeof keys !== 'string') keys.add(key);
    else if (keys !== key) this.#keys.set(word, new Set([keys, key]));
  }

  #remove(word: string, key: string): void {
    const keys = this.#keys.get(word);
    if (keys === key) this.#keys.delete(word);
    else if (keys instanceof Set && keys.delete(key) && keys.size === 0) this.#keys.delete(word);
  }

  /** An object about which the function throws is found under no word. */
  #words(object: T | undefined): string[] {
    if (object === undefined) return [];
    try {
      return [...this.#wordsOf(object)];
    } catch {
      return [];
    }
  }
}

/** One object's change; before it was added, and after it was deleted, it is `undefined`. */
export interface ObjectChange<T> {
  readonly key: string;
  readonly previous: T | undefined;
  readonly current: T | undefined;
}
