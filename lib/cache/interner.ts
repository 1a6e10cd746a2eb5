/** What bounds what an interner holds. */
interface InternerOptions {
  /** How many keys are remembered at least. */
  readonly capacity: number;
  /** Longer ones, in UTF-16 units, are not remembered: strangers may make as many as they like. */
  readonly maxKeyLength: number;
}

/**
 * Gives one and the same value for equal keys that come again soon, so that equal values are held once.
 *
 * What was not asked for during the last `capacity` to twice as many new keys is forgotten, so that a program which
 * runs for months does not hold on to what is gone.
 */
export class Interner<T> {
  readonly #options: InternerOptions;
  readonly #make: (key: string) => T;
  #young = new Map<string, T>();
  #old = new Map<string, T>();

  /** @param make makes the value of a key that is new, out of a key that is no part of a longer text */
  constructor(options: InternerOptions, make: (key: string) => T) {
    this.#options = options;
    this.#make = make;
  }

  /** @returns the value that an equal key got before, else a new one */
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

/** Holds equal texts once. */
export function createStringInterner(options: InternerOptions): Interner<string> {
  return new Interner(options, (text) => text);
}

/** The same text with memory of its own: what V8 cuts out of a longer text keeps all of that alive. */
export function copyString(text: string): string {
  const encoding = text.isWellFormed() ? 'utf8' : 'utf16le';
  return Buffer.from(text, encoding).toString(encoding);
}
