/** Makes something of an array, once for as long as it is the same: discovery is cached by it. */
export function ofSameArray<T, Result>(
  make: (array: readonly T[]) => Result,
): (array: readonly T[]) => Result {
  let last: { readonly array: readonly T[]; readonly made: Result } | undefined;
  return (array) => {
    if (last?.array !== array) last = { array, made: make(array) };
    return last.made;
  };
}
