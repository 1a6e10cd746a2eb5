import type { ObjectChange } from './object-store.ts';

/** Under which words an object is found: the names of what it refers to, say. */
export type IndexFunction<T> = (object: T) => Iterable<string>;

/** The keys of objects by words. */
export class ObjectIndex<T> {
  readonly #wordsOf: IndexFunction<T>;
  readonly #keys = new Map<string, Set<string>>();

  constructor(wordsOf: IndexFunction<T>) {
    this.#wordsOf = wordsOf;
  }

  /** The keys of the objects that are found under a word. */
  keys(word: string): Iterable<string> {
    return this.#keys.get(word) ?? [];
  }

  /** Follows a change of the objects. */
  apply({ key, previous, current }: ObjectChange<T>): void {
    for (const word of this.#words(previous)) {
      const keys = this.#keys.get(word);
      if (keys?.delete(key) && keys.size === 0) this.#keys.delete(word);
    }
    for (const word of this.#words(current)) {
      const keys = this.#keys.get(word) ?? new Set();
      this.#keys.set(word, keys.add(key));
    }
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
