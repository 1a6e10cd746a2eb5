/** CRC-32's polynomial, lowest power first. */
const POLYNOMIAL = 0xedb88320;

/** The polynomial 1. */
const ONE = 0x80000000;

/** `x` to the power of 2^n, for every n that a number of bits can have. */
const POWERS = Array.from({ length: 64 }, () => 0);
for (let power = ONE >>> 1, n = 0; n < POWERS.length; n++) {
  POWERS[n] = power;
  power = multiply(power, power);
}

/**
 * The CRC-32 of two texts that follow one another, from those of each: a checksum is a polynomial over one bit, and
 * what comes behind shifts it by so many powers of `x` (zlib's `crc32_combine`).
 *
 * @param secondBytes how long the second text is
 */
export function combineCrc32(first: number, second: number, secondBytes: number): number {
  let shift = ONE;
  for (let [rest, n] = [secondBytes, 3]; rest > 0; rest = Math.floor(rest / 2), n++) {
    if (rest % 2 === 1) shift = multiply(POWERS[n] ?? 0, shift);
  }
  return (multiply(shift, first) ^ second) >>> 0;
}

/** The product of two polynomials, modulo CRC-32's. */
function multiply(a: number, b: number): number {
  let [product, shifted] = [0, b];
  for (let bit = ONE; bit > 0; bit >>>= 1) {
    if (a & bit) product ^= shifted;
    shifted = shifted & 1 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1;
  }
  return product >>> 0;
}
