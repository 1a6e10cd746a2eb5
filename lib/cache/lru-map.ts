interface LruMapOptions<Key, Value> {
  /** Maximum number of entries, or their maximum total weight if {@link weigh} is set. */
  readonly max: number;
  /** Weight of an entry, computed when it is set; by default 1. */
  readonly weigh?: (value: Value) => number;
  /** Called with each evicted entry; not with deleted or replaced ones. */
  readonly onEvict?: (value: Value, key: Key) => void;
}

/**
 * A bounded map that evicts the least recently used entries. An entry is used when it is set and when {@link get}
 * finds it. Iterates from the least to the most recently used entry.
 *
 * @example
 * const clients = new LruMap<string, Client>({ max: 100, onEvict: (client) => client.close() });
 * const client = clients.getOrSet(name, () => new Client(name));
 */
export class LruMap<Key, Value extends NonNullable<unknown>> {
  readonly #options: LruMapOptions<Key, Value>;
  readonly #entries = new Map<Key, Value>();
  /** By key; `undefined` if entries are not weighed. */
  readonly #weights: Map<Key, number> | undefined;
  #weight = 0;

  constructor(options: LruMapOptions<Key, Value>) {
    this.#options = options;
    this.#weights = options.weigh && new Map();
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Like {@link get}, without marking the entry as used. */
  peek(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    this.#entries.set(key, value);
    const { max, weigh } = this.#options;
    const weight = weigh ? weigh(value) : 1;
    this.#weights?.set(key, weight);
    this.#weight += weight;
    if (this.#weight <= max) return; // the usual case needs no iterator
    for (const [oldest, evicted] of this.#entries) {
      if (this.#weight <= max) return;
      this.delete(oldest);
      this.#options.onEvict?.(evicted, oldest);
    }
  }

  /** Returns the value of a key; creates and sets it if there is none. */
  getOrSet(key: Key, make: () => Value): Value {
    const existing = this.get(key);
    if (existing !== undefined) return existing;
    const value = make();
    this.set(key, value);
    return value;
  }

  delete(key: Key): boolean {
    if (!this.#entries.delete(key)) return false;
    this.#weight -= this.#weights ? (this.#weights.get(key) ?? 0) : 1;
    this.#weights?.delete(key);
    return true;
  }

  /** Deletes all entries without calling `onEvict`. */
  clear(): void {
    this.#entries.clear();
    this.#weights?.clear();
    this.#weight = 0;
  }

  values(): Iterable<Value> {
    return this.#entries.values();
  }

  [Symbol.iterator](): Iterator<readonly [Key, Value]> {
    return this.#entries[Symbol.iterator]();
  }
}
