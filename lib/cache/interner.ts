interface InternerOptions {
  /** Minimum number of retained keys; at most twice as many are retained. */
  readonly capacity: number;
  /** In UTF-16 units. Longer keys are not retained, since untrusted clients may send any number of them. */
  readonly maxKeyLength: number;
}

/**
 * Returns the same value for equal keys, so that equal values take memory once.
 *
 * A key is evicted if it is not used while `capacity` to twice as many new keys are added, so a long-running program
 * does not retain stale values.
 */
export class Interner<T> {
  readonly #options: InternerOptions;
  readonly #make: (key: string) => T;
  #young = new Map<string, T>();
  #old = new Map<string, T>();

  /** @param make creates the value of a new key; the key is a copy that does not retain a longer string */
  constructor(options: InternerOptions, make: (key: string) => T) {
    this.#options = options;
    this.#make = make;
  }

  intern(key: string): T {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const { capacity, maxKeyLength } = this.#options;
    const ownKey = copyString(key);
    if (key.length > maxKeyLength) return this.#make(ownKey);
    const value = this.#old.get(key) ?? this.#make(ownKey);
    if (this.#young.size >= capacity) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(ownKey, value);
    return value;
  }
}

/** Deduplicates equal strings. */
export function createStringInterner(options: InternerOptions): Interner<string> {
  return new Interner(options, (text) => text);
}

/** Copies a string, since a slice made by V8 retains the whole string that it is taken from. */
export function copyString(text: string): string {
  const encoding = text.isWellFormed() ? 'utf8' : 'utf16le';
  return Buffer.from(text, encoding).toString(encoding);
}
