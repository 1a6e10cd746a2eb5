/**
 * Gives one and the same value for equal keys that come again soon, so that equal values are held once.
 *
 * What was not asked for during the last `capacity` to twice as many new keys is forgotten, so that a program which
 * runs for months does not hold on to what is gone.
 */
export class RecentValues<T> {
  readonly #capacity: number;
  #young = new Map<string, T>();
  #old = new Map<string, T>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** @returns the value that an equal key got before, else the given one */
  share(key: string, value: T): T {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const shared = this.#old.get(key) ?? value;
    if (this.#young.size >= this.#capacity) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, shared);
    return shared;
  }
}
