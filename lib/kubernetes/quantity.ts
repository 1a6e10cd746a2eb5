const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
/** Suffixes for thousandths and above. */
const FROM_THOUSANDTHS = DECIMAL_SUFFIXES.slice(2);
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/**
 * Formats CPU as Kubernetes does: `12345678n`, `50m`, `2`, `0`.
 *
 * @param nanocores not negative and below 2^53; a fraction is dropped
 */
export function formatCpuNanocores(nanocores: number): string {
  return withLargestSuffix(Math.trunc(nanocores), 1000, DECIMAL_SUFFIXES);
}

/**
 * Formats memory as a binary quantity, as Kubernetes does: `52356Ki`, `25Mi`, `52357`.
 *
 * Below 1024 bytes Kubernetes falls back to decimal suffixes, so 1000 bytes are `1k`.
 *
 * @param bytes not negative and below 2^53; a fraction is dropped
 */
export function formatMemoryBytes(bytes: number): string {
  const whole = Math.trunc(bytes);
  if (whole < 1024) return withLargestSuffix(whole, 1000, DECIMAL_SUFFIXES.slice(3));
  return withLargestSuffix(whole, 1024, BINARY_SUFFIXES);
}

/** The canonical form: the largest suffix with an integer before it. */
function withLargestSuffix(amount: number, base: number, suffixes: readonly string[]): string {
  if (amount === 0) return '0';
  let mantissa = amount;
  let exponent = 0;
  while (mantissa % base === 0 && exponent < suffixes.length - 1) {
    mantissa /= base;
    exponent++;
  }
  return `${mantissa}${suffixes[exponent]}`;
}

/** The format in which a quantity was written, and is formatted again. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** Kubernetes' finest unit. */
const NANOS_PER_UNIT = 1_000_000_000n;
const MAX_NANOS = (2n ** 63n - 1n) * NANOS_PER_UNIT;

/** Valid quantities are shorter; a longer text is refused without parsing. */
const MAX_LENGTH = 128;
/** Beyond these, any number of parsed digits is capped to the largest or smallest quantity. */
const MAX_EXPONENT = 40;
const MIN_EXPONENT = -MAX_LENGTH - 40;

/** Sign, whole digits, fraction and suffix. Names for them would take an object a match, thousands of them a second. */
const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;

/**
 * An amount as Kubernetes represents it: exact in billionths, up to 2^63-1.
 *
 * Finer amounts are rounded away from zero, and larger ones are capped, as the API server does.
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

  /** Parses `100m`, `1.5Gi`, `12e6`; `undefined` for an invalid quantity. */
  static parse(text: string): Quantity | undefined {
    const match = text.length <= MAX_LENGTH ? QUANTITY.exec(text) : undefined;
    if (!match) return undefined;
    const [, sign, whole = '', fraction = '', suffix = ''] = match;
    if (whole === '' && fraction === '') return undefined;
    const digits = BigInt(whole + fraction);
    const signed = sign === '-' ? -digits : digits;
    const binary = BINARY_SUFFIXES.indexOf(suffix);
    if (binary > 0) {
      const scaled = signed * 1024n ** BigInt(binary) * NANOS_PER_UNIT;
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

  /** The canonical form: the largest suffix with an integer before it. */
  toString(): string {
    const { nanos } = this;
    if (nanos === 0n) return '0';
    const units = nanos / NANOS_PER_UNIT;
    const isWhole = units * NANOS_PER_UNIT === nanos;
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

/** Divides and rounds away from zero, so that a small amount does not become zero. */
export function divideUp(dividend: bigint, divisor: bigint): bigint {
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

/**
 * Parses a Kubernetes quantity in nanos: `100m` is 100,000,000.
 *
 * Values below a nano are rounded away from zero and values beyond 2^63-1 are capped, as Kubernetes does.
 *
 * @throws {QuantityError} when the text is not a quantity
 */
export function parseNanos(text: string): bigint {
  const quantity = Quantity.parse(text);
  if (!quantity) throw new QuantityError(text, 'is not a quantity');
  return quantity.nanos;
}

/**
 * Parses a quantity in thousandths, the unit of the HPA controller, rounded away from zero.
 *
 * @throws {QuantityError} when the text is not a quantity, or its thousandths exceed 64 bits
 */
export function parseThousandths(text: string): bigint {
  const thousandths = divideUp(parseNanos(text), 1_000_000n);
  if (BigInt.asIntN(64, thousandths) !== thousandths) {
    throw new QuantityError(text, 'exceeds 64 bits in thousandths');
  }
  return thousandths;
}

/** A text that is not a quantity, or exceeds the range. */
export class QuantityError extends Error {
  constructor(text: string, problem: string) {
    super(`${JSON.stringify(text.slice(0, 40))} ${problem}`);
    this.name = 'QuantityError';
  }
}

/** Formats thousandths as a decimal quantity, as Kubernetes does: `2500m`, `3`, `20k`. */
export function formatThousandths(thousandths: bigint): string {
  return formatAs('DecimalSI', thousandths);
}

/**
 * Formats thousandths as a binary quantity, as Kubernetes does: `64Mi`, `91000000`.
 *
 * Below 1024, and where thousandths would be lost, Kubernetes falls back to the decimal format.
 */
export function formatBinaryThousandths(thousandths: bigint): string {
  return formatAs('BinarySI', thousandths);
}

function formatAs(format: QuantityFormat, thousandths: bigint): string {
  return Quantity.ofNanos(thousandths * 1_000_000n, format).toString();
}

/** Anything below a thousandth is dropped, as the clients of the metrics APIs do. */
const NANOS_PER_THOUSANDTH = 1_000_000n;
/** As many digits as a double represents reliably: 4.35 times 1000 is 4350, not 4349.999…. */
const SURE_DIGITS = 15;

/** Above all quantities, which end at 2^63. */
const MAX_VALUE = 1e19;

/** Formats a finite number as a quantity in thousandths, with the largest suffix that has an integer before it. */
export function formatValue(value: number): string {
  const bounded = Math.min(Math.max(value, -MAX_VALUE), MAX_VALUE); // a double cannot represent a thousand times the largest double
  const thousandths = Math.trunc(Number((bounded * 1000).toPrecision(SURE_DIGITS)));
  if (Number.isSafeInteger(thousandths)) return withLargestSuffix(thousandths, 1000, FROM_THOUSANDTHS);
  return Quantity.ofNanos(BigInt(thousandths) * NANOS_PER_THOUSANDTH).toString();
}
