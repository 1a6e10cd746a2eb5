/** Sorts by name what has nearly always the same names as before, which is many times quicker to see than to sort again. */
export class NameOrder {
  #names: readonly string[] = [];

  /** What there is, by its names, in the order of UTF-16 code units. */
  sort<T>(named: ReadonlyMap<string, T>): readonly T[] {
    return this.#asBefore(named) ?? this.#sortAgain(named);
  }

  #asBefore<T>(named: ReadonlyMap<string, T>): readonly T[] | undefined {
    if (named.size !== this.#names.length) return undefined;
    const sorted: T[] = [];
    for (const name of this.#names) {
      const one = named.get(name);
      if (one === undefined) return undefined;
      sorted.push(one);
    }
    return sorted;
  }

  #sortAgain<T>(named: ReadonlyMap<string, T>): readonly T[] {
    this.#names = [...named.keys()].sort();
    return this.#names.map((name) => named.get(name) as T);
  }
}
