/** How much an {@link LruMap} contains at most. */
interface LruMapOptions<Key, Value> {
  /** Entries, or the weight of all entries where these are weighed. */
  readonly max: number;
  /** How much of the maximum an entry takes, read when it is set; by default 1. */
  readonly weigh?: (value: Value) => number;
  /** Called with each entry that had to leave; not with one that was deleted or replaced. */
  readonly onEvict?: (value: Value, key: Key) => void;
}

/**
 * A map with a bound: what exceeds it evicts the entries that were not used for the longest time. An entry is used when it
 * is set, and when {@link get} finds it. Iterates from the least to the most recently used.
 *
 * @example
 * const clients = new LruMap<string, Client>({ max: 100, onEvict: (client) => client.close() });
 * const client = clients.getOrSet(name, () => new Client(name));
 */
export class LruMap<Key, Value extends NonNullable<unknown>> {
  readonly #options: LruMapOptions<Key, Value>;
  readonly #entries = new Map<Key, Value>();
  /** Of each entry, where they are weighed. */
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

  /** The same, without using the entry. */
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
    if (this.#weight <= max) return; // nearly always: no iterator is made
    for (const [oldest, evicted] of this.#entries) {
      if (this.#weight <= max) return;
      this.delete(oldest);
      this.#options.onEvict?.(evicted, oldest);
    }
  }

  /** The value of a key, made and set where there is none. */
  getOrSet(key: Key, make: () => Value): Value {
    const known = this.get(key);
    if (known !== undefined) return known;
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

  /** Deletes all entries; none of them is reported as evicted. */
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
