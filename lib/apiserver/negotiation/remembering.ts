/**
 * Remembers what a function makes of a text: clients send the same header, or ask for the same URL, again and again. What
 * it throws at is not remembered. Once there are too many texts, all are forgotten.
 *
 * @param options.longest texts that are longer are not remembered
 * @param options.isSmall whether what was made may be remembered: without a bound of its own it may take many times its text
 */
export function remembering<Made>(
  make: (text: string) => Made,
  {
    most,
    longest,
    isSmall = () => true,
  }: { readonly most: number; readonly longest: number; readonly isSmall?: (made: Made) => boolean },
): (text: string) => Made {
  const made = new Map<string, { readonly value: Made }>();
  return (text) => {
    const known = made.get(text);
    if (known) return known.value;
    const value = make(text);
    if (text.length > longest || !isSmall(value)) return value;
    if (made.size >= most) made.clear();
    made.set(text, { value });
    return value;
  };
}
