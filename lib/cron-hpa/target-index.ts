import type { ObjectSource } from './object-source.ts';

/** Finds objects by what they are about, in a time that does not depend on how many there are. */
export class TargetIndex<T> implements Disposable {
  readonly #keysOf: (object: T) => readonly string[];
  readonly #objects = new Map<string, Map<string, T>>();
  readonly #leave: () => void;

  /** @param keysOf what an object is about, in the words in which it is looked for */
  constructor(source: Pick<ObjectSource<T>, 'onChange'>, keysOf: (object: T) => readonly string[]) {
    this.#keysOf = keysOf;
    this.#leave = source.onChange(
      ({ key, previous, current }) => {
        if (previous !== undefined) this.#remove(key, previous);
        if (current !== undefined) this.#add(key, current);
      },
      { replay: true },
    );
  }

  /** The objects about something, by their keys. */
  of(target: string): ReadonlyMap<string, T> {
    return this.#objects.get(target) ?? new Map();
  }

  [Symbol.dispose](): void {
    this.#leave();
  }

  #add(key: string, object: T): void {
    for (const target of this.#keysOf(object)) {
      const objects = this.#objects.get(target) ?? new Map<string, T>();
      this.#objects.set(target, objects.set(key, object));
    }
  }

  #remove(key: string, object: T): void {
    for (const target of this.#keysOf(object)) {
      const objects = this.#objects.get(target);
      objects?.delete(key);
      if (objects?.size === 0) this.#objects.delete(target);
    }
  }
}
