/** What bounds the memory of a memoized function. */
interface MemoizeOptions<Made> {
  readonly maxEntries: number;
  /** The results of longer texts, in UTF-16 units, are not cached: callers may send as many as they like. */
  readonly maxLength: number;
  /** Whether a result may be cached: without a bound of its own it may take many times its text. */
  readonly isSmall?: (made: Made) => boolean;
}

/**
 * Caches what a function makes of a text: clients send the same header, or request the same URL, again and again. What it
 * throws is not cached. Where there are too many entries, all of them are evicted: unlike an `LruMap`, it changes nothing
 * on a hit, on which requests spend most of their calls.
 *
 * @param make its other arguments must not change the result for the same text
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
 * Caches what a function makes of an object for as long as the object is there, such as a request's or a connection's. What
 * it throws is not cached, nor is `undefined`.
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
