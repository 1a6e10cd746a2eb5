const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const NANOS = 10n ** 9n;
const MAX_NANOS = (2n ** 63n - 1n) * NANOS;
const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d{1,3})?$/;

/** The rule in messages of Kubernetes. */
export const QUANTITY_RULE =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/**
 * The canonical form of a quantity, in which the API server returns it: `1` for the number 1 and for `1000m`, `1536Mi` for
 * `1.5Gi`.
 *
 * @returns `undefined` for a value that is not a quantity
 */
export function canonicalQuantity(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const match = QUANTITY.exec(String(value).trim());
  const [, sign, whole = '', fraction = '', suffix = ''] = match ?? [];
  if (!match || whole + fraction === '' || whole.length + fraction.length > 100) return undefined;
  const digits = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n);
  const binary = BINARY.indexOf(suffix);
  if (binary > 0) {
    const nanos = divideAwayFromZero(
      digits * 1024n ** BigInt(binary) * NANOS,
      10n ** BigInt(fraction.length),
    );
    return inBinary(bounded(nanos));
  }
  const index = DECIMAL.indexOf(suffix);
  const exponent = (index === -1 ? Number(suffix.slice(1)) : (index - 3) * 3) - fraction.length + 9;
  const nanos =
    exponent >= 0 ? digits * 10n ** BigInt(exponent) : divideAwayFromZero(digits, 10n ** BigInt(-exponent));
  return inDecimal(bounded(nanos), index === -1);
}

function bounded(nanos: bigint): bigint {
  return nanos > MAX_NANOS ? MAX_NANOS : nanos < -MAX_NANOS ? -MAX_NANOS : nanos;
}

function divideAwayFromZero(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  if (quotient * divisor === dividend) return quotient;
  return dividend < 0n ? quotient - 1n : quotient + 1n;
}

/** Kubernetes writes fractions and numbers below 1024 as decimal ones. */
function inBinary(nanos: bigint): string {
  const units = nanos / NANOS;
  if (units * NANOS !== nanos || (units > -1024n && units < 1024n)) return inDecimal(nanos, false);
  const [mantissa, steps] = stripped(units, 1024n, BINARY.length - 1);
  return `${mantissa}${BINARY[steps]}`;
}

function inDecimal(nanos: bigint, isExponent: boolean): string {
  if (nanos === 0n) return '0';
  const [mantissa, steps] = stripped(nanos, 1000n, DECIMAL.length - 1);
  if (!isExponent) return `${mantissa}${DECIMAL[steps]}`;
  return steps === 3 ? `${mantissa}` : `${mantissa}e${(steps - 3) * 3}`;
}

/** Divides by the base as often as nothing remains. */
function stripped(
  amount: bigint,
  base: bigint,
  maxSteps: number,
): readonly [mantissa: bigint, steps: number] {
  let mantissa = amount;
  let steps = 0;
  while (steps < maxSteps && mantissa % base === 0n) {
    mantissa /= base;
    steps++;
  }
  return [mantissa, steps];
}
