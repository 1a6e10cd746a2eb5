import type { ObjectChange } from './object-change.ts';

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
