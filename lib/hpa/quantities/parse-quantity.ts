/**
 * Reads a Kubernetes quantity in nanos: `100m` is 100,000,000.
 *
 * What is smaller than a nano is rounded away from zero, as Kubernetes does.
 *
 * @throws {QuantityError} when the text is no quantity, or one beyond every use
 */
export function parseNanos(text: string): bigint {
  const match = text.length <= LONGEST ? QUANTITY.exec(text) : null;
  if (!match) throw new QuantityError(text, 'is no quantity');
  const [, sign, whole = '', fraction = '', suffix = '', exponent] = match;
  if (whole === '' && fraction === '') throw new QuantityError(text, 'is no quantity');
  const magnitude = scaled(BigInt(whole + fraction), fraction.length, exponent ?? suffix, text);
  return sign === '-' ? -magnitude : magnitude;
}

/**
 * Reads a quantity in thousandths, rounded away from zero: what the HPA controller counts in.
 *
 * @throws {QuantityError} when the text is no quantity, or its thousandths exceed 64 bits
 */
export function parseThousandths(text: string): bigint {
  const thousandths = roundedUp(parseNanos(text), 1_000_000n);
  if (BigInt.asIntN(64, thousandths) !== thousandths) {
    throw new QuantityError(text, 'has more thousandths than 64 bits count');
  }
  return thousandths;
}

/** Divides and rounds away from zero. */
export function roundedUp(amount: bigint, divisor: bigint): bigint {
  const quotient = amount / divisor;
  if (quotient * divisor === amount) return quotient;
  return amount < 0n ? quotient - 1n : quotient + 1n;
}

/** A text that is no quantity, or none that can be counted with. */
export class QuantityError extends Error {
  constructor(text: string, problem: string) {
    super(`${JSON.stringify(text.slice(0, 40))} ${problem}`);
    this.name = 'QuantityError';
  }
}

const LONGEST = 100;
const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d{1,3}))?$/;

/** By how many decimal places a suffix moves the point. */
const DECIMAL_PLACES: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY_FACTORS: Readonly<Record<string, bigint>> = {
  Ki: 1n << 10n,
  Mi: 1n << 20n,
  Gi: 1n << 30n,
  Ti: 1n << 40n,
  Pi: 1n << 50n,
  Ei: 1n << 60n,
};

function scaled(digits: bigint, fractionDigits: number, suffix: string, text: string): bigint {
  const factor = BINARY_FACTORS[suffix];
  const places = 9 - fractionDigits + (factor === undefined ? (DECIMAL_PLACES[suffix] ?? Number(suffix)) : 0);
  if (places > 60 && digits !== 0n) throw new QuantityError(text, 'is beyond every use');
  const amount = digits * (factor ?? 1n);
  return places >= 0
    ? amount * 10n ** BigInt(Math.min(places, 60))
    : roundedUp(amount, 10n ** BigInt(-places));
}
