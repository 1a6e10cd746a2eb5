/**
 * Remembers what a function makes of a text: clients send the same header, or ask for the same URL, again and again. What
 * it throws at is not remembered. Once there are too many texts, all are forgotten.
 *
 * @param make what it is given beside the text says the same for the same text
 * @param options.longest texts that are longer are not remembered
 * @param options.isSmall whether what was made may be remembered: without a bound of its own it may take many times its text
 */
export function remembering<Made, Of extends readonly unknown[]>(
  make: (text: string, ...of: Of) => Made,
  {
    most,
    longest,
    isSmall = () => true,
  }: { readonly most: number; readonly longest: number; readonly isSmall?: (made: Made) => boolean },
): (text: string, ...of: Of) => Made {
  const made = new Map<string, { readonly value: Made }>();
  return (text, ...of) => {
    const known = made.get(text);
    if (known) return known.value;
    const value = make(text, ...of);
    if (text.length > longest || !isSmall(value)) return value;
    if (made.size >= most) made.clear();
    made.set(text, { value });
    return value;
  };
}

/** Keeps what a function makes of an object with it: requests for the same URL have parts in common, those of a connection a user. */
export function keptWith<Of extends object, Made>(make: (of: Of) => Made): (of: Of) => Made {
  const kept = new WeakMap<Of, Made>();
  return (of) => {
    let made = kept.get(of);
    if (made === undefined) {
      made = make(of);
      kept.set(of, made);
    }
    return made;
  };
}
