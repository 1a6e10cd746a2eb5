import { Quantity } from '#lib/kubernetes/quantity.ts';

const NANOS_A_THOUSANDTH = 1_000_000n;
/** Beyond this a double tells no thousandths apart. */
const MOST = Number.MAX_SAFE_INTEGER / 1000;
/** Quantities end below, at 2^63; a double has no thousand times the greatest double. */
const GREATEST = 1e19;

/**
 * A number as HPAs are told it: a quantity of whole thousandths, the nearest; of two that are as near, the even one.
 * What is negative or no number is 0.
 */
export function formatAmount(value: number): string {
  if (!(value > 0) || value === Number.POSITIVE_INFINITY) return '0';
  if (value > MOST) return quantityOf(BigInt(Math.round(value)) * 1000n);
  return quantityOf(BigInt(nearestThousandths(value)));
}

/** The same, with what is finer than a thousandth cut off. */
export function formatTruncated(value: number): string {
  if (!(value > 0) || value === Number.POSITIVE_INFINITY) return '0';
  return quantityOf(BigInt(Math.trunc(Math.min(value, GREATEST) * 1000)));
}

function nearestThousandths(value: number): number {
  const sixteenths = value * 16;
  const halves = sixteenths * 125; // of thousandths: exact where there are whole sixteenths
  if (Number.isInteger(sixteenths) && halves % 2 === 1) {
    const below = (halves - 1) / 2;
    return below % 2 === 0 ? below : below + 1;
  }
  return Number(value.toFixed(3).replace('.', ''));
}

function quantityOf(thousandths: bigint): string {
  return Quantity.ofNanos(thousandths * NANOS_A_THOUSANDTH).toString();
}
