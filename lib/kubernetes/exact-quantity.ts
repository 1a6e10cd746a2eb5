/** How a quantity was written, and is written again. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** Kubernetes counts no finer than this. */
const NANOS_A_UNIT = 1_000_000_000n;
const MAX_NANOS = (2n ** 63n - 1n) * NANOS_A_UNIT;

/** None is written that long; a longer text is refused unread. */
const MAX_LENGTH = 128;
/** Beyond these, any number of digits that is read is cut to the greatest or the least quantity. */
const MAX_EXPONENT = 40;
const MIN_EXPONENT = -MAX_LENGTH - 40;

const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const QUANTITY =
  /^(?<sign>[+-]?)(?<whole>\d*)(?:\.(?<fraction>\d*))?(?<suffix>[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;

/**
 * An amount of something as Kubernetes counts it: exact in billionths, up to 2^63-1.
 *
 * What is finer is rounded away from zero, and what is greater is cut, as the API server does.
 */
export class Quantity {
  readonly nanos: bigint;
  readonly format: QuantityFormat;

  private constructor(nanos: bigint, format: QuantityFormat) {
    this.nanos = nanos > MAX_NANOS ? MAX_NANOS : nanos < -MAX_NANOS ? -MAX_NANOS : nanos;
    this.format = format;
  }

  static ofNanos(nanos: bigint, format: QuantityFormat = 'DecimalSI'): Quantity {
    return new Quantity(nanos, format);
  }

  /** Reads `100m`, `1.5Gi`, `12e6`; `undefined` for what is no quantity. */
  static parse(text: string): Quantity | undefined {
    const groups = text.length <= MAX_LENGTH ? QUANTITY.exec(text)?.groups : undefined;
    if (!groups) return undefined;
    const { sign, whole = '', fraction = '', suffix = '' } = groups;
    if (whole === '' && fraction === '') return undefined;
    const digits = BigInt(whole + fraction);
    const signed = sign === '-' ? -digits : digits;
    const binary = BINARY_SUFFIXES.indexOf(suffix);
    if (binary > 0) {
      const scaled = signed * 1024n ** BigInt(binary) * NANOS_A_UNIT;
      return new Quantity(divideUp(scaled, 10n ** BigInt(fraction.length)), 'BinarySI');
    }
    const decimal = DECIMAL_SUFFIXES.indexOf(suffix);
    const isExponent = decimal === -1;
    const exponent = isExponent ? Number(suffix.slice(1)) : (decimal - 3) * 3;
    return new Quantity(
      scale(signed, exponent - fraction.length),
      isExponent ? 'DecimalExponent' : 'DecimalSI',
    );
  }

  /** Below 0 where this is less than the other, above 0 where it is more. */
  compare(other: Quantity): number {
    return this.nanos < other.nanos ? -1 : this.nanos > other.nanos ? 1 : 0;
  }

  /** The sum, in the format of this one, or where this is zero, of the other. */
  plus(other: Quantity): Quantity {
    return new Quantity(this.nanos + other.nanos, this.nanos === 0n ? other.format : this.format);
  }

  negated(): Quantity {
    return new Quantity(-this.nanos, this.format);
  }

  /** The canonical form: the largest suffix that leaves a whole number in front of it. */
  toString(): string {
    const { nanos } = this;
    if (nanos === 0n) return '0';
    const units = nanos / NANOS_A_UNIT;
    const isWhole = units * NANOS_A_UNIT === nanos;
    const isSmall = units > -1024n && units < 1024n;
    if (this.format === 'BinarySI' && isWhole && !isSmall) {
      const { mantissa, steps } = strip(units, 1024n, BINARY_SUFFIXES.length - 1);
      return `${mantissa}${BINARY_SUFFIXES[steps]}`;
    }
    const { mantissa, steps } = strip(nanos, 1000n, DECIMAL_SUFFIXES.length - 1);
    const exponent = steps * 3 - 9;
    if (this.format !== 'DecimalExponent') return `${mantissa}${DECIMAL_SUFFIXES[steps]}`;
    return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`;
  }
}

/** A number of units, times a power of ten, in nanos. */
function scale(digits: bigint, exponent: number): bigint {
  if (digits === 0n) return 0n;
  const power = Math.min(MAX_EXPONENT, Math.max(MIN_EXPONENT, exponent)) + 9;
  return power >= 0 ? digits * 10n ** BigInt(power) : divideUp(digits, 10n ** BigInt(-power));
}

/** Rounds away from zero: who asks for a little gets something. */
function divideUp(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  if (quotient * divisor === dividend) return quotient;
  return dividend < 0n ? quotient - 1n : quotient + 1n;
}

function strip(amount: bigint, base: bigint, maxSteps: number): { mantissa: bigint; steps: number } {
  let mantissa = amount;
  let steps = 0;
  while (steps < maxSteps && mantissa % base === 0n) {
    mantissa /= base;
    steps++;
  }
  return { mantissa, steps };
}
