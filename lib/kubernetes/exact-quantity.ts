import { Quantity, type QuantityFormat } from './quantity.ts';

/**
 * Reads a Kubernetes quantity in nanos: `100m` is 100,000,000.
 *
 * What is smaller than a nano is rounded away from zero and what is beyond 2^63-1 is cut, as Kubernetes does.
 *
 * @throws {QuantityError} when the text is no quantity
 */
export function parseNanos(text: string): bigint {
  const quantity = Quantity.parse(text);
  if (!quantity) throw new QuantityError(text, 'is no quantity');
  return quantity.nanos;
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

/**
 * Writes thousandths as Kubernetes writes a quantity of the decimal format: `2500m`, `3`, `20k`.
 */
export function formatThousandths(thousandths: bigint): string {
  return formatAs('DecimalSI', thousandths);
}

/**
 * Writes thousandths as Kubernetes writes a quantity of the binary format: `64Mi`, `91000000`.
 *
 * Below 1024, and where thousandths would be lost, Kubernetes falls back to the decimal format.
 */
export function formatBinaryThousandths(thousandths: bigint): string {
  return formatAs('BinarySI', thousandths);
}

function formatAs(format: QuantityFormat, thousandths: bigint): string {
  return Quantity.ofNanos(thousandths * 1_000_000n, format).toString();
}
