/**
 * Encodes one of many things: one that cannot be encoded, because it holds what nobody foresaw, costs itself alone.
 *
 * @returns `undefined` where encoding it throws
 */
export function attempt<Encoded>(encode: () => Encoded): Encoded | undefined {
  try {
    return encode();
  } catch {
    return undefined;
  }
}
