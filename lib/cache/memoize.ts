interface MemoizeOptions<Made> {
  readonly maxEntries: number;
  /** In UTF-16 units. Results of longer strings are not cached, since clients may send any number of them. */
  readonly maxLength: number;
  /** Whether a result may be cached. For results that may take many times the memory of their string. */
  readonly isSmall?: (made: Made) => boolean;
}

/**
 * Caches the results of a function by its string argument, such as a header or URL that clients send repeatedly.
 * Errors are not cached. When the cache is full, all entries are evicted: unlike an `LruMap`, a hit writes nothing,
 * and most calls are hits.
 *
 * @param make its other arguments must not change the result for the same string
 */
export function memoize<Made, Rest extends readonly unknown[]>(
  make: (text: string, ...rest: Rest) => Made,
  { maxEntries, maxLength, isSmall = () => true }: MemoizeOptions<Made>,
): (text: string, ...rest: Rest) => Made {
  const cache = new Map<string, { readonly value: Made }>();
  return (text, ...rest) => {
    const cached = cache.get(text);
    if (cached) return cached.value;
    const value = make(text, ...rest);
    if (text.length > maxLength || !isSmall(value)) return value;
    if (cache.size >= maxEntries) cache.clear();
    cache.set(text, { value });
    return value;
  };
}

/**
 * Caches the result of a function for the lifetime of its argument, such as a request or a connection. Errors and
 * `undefined` are not cached.
 *
 * @param make its other arguments must not change the result for the same object
 */
export function memoizeByObject<From extends object, Made, Rest extends readonly unknown[]>(
  make: (from: From, ...rest: Rest) => Made,
): (from: From, ...rest: Rest) => Made {
  const cache = new WeakMap<From, Made>();
  return (from, ...rest) => {
    let made = cache.get(from);
    if (made === undefined) {
      made = make(from, ...rest);
      cache.set(from, made);
    }
    return made;
  };
}
