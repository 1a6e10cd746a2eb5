const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
/** Databases write all digits of the greatest double. */
const MAX_LENGTH = 400;

/** The finite number that a server wrote as text; `undefined` for what is none, as NaN, hexadecimal digits and blanks. */
export function decimalNumber(text: string): number | undefined {
  const value = text.length <= MAX_LENGTH && NUMBER.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}
