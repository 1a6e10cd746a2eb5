import { Quantity } from '#lib/kubernetes/exact-quantity.ts';

/** Everything below a thousandth is cut off, as the metrics APIs' clients count. */
const NANOS_A_THOUSANDTH = 1_000_000n;
/** As many digits as a double holds for sure: 4.35 times 1000 is 4350, not 4349.999…. */
const SURE_DIGITS = 15;

/** Quantities end below, at 2^63. */
const GREATEST = 1e19;

/** Of thousandths, and of 1000 times as much each. */
const SUFFIXES = ['m', '', 'k', 'M', 'G', 'T', 'P', 'E'];

/** Writes a finite number as a quantity of whole thousandths, with the largest suffix that leaves a whole number in front of it. */
export function formatValue(value: number): string {
  const bounded = Math.min(Math.max(value, -GREATEST), GREATEST); // a double has no thousand times the greatest double
  const thousandths = Math.trunc(Number((bounded * 1000).toPrecision(SURE_DIGITS)));
  if (thousandths === 0) return '0';
  if (Number.isSafeInteger(thousandths)) {
    let [amount, steps] = [thousandths, 0];
    while (amount % 1000 === 0) {
      amount /= 1000;
      steps++;
    }
    return `${amount}${SUFFIXES[steps]}`;
  }
  return Quantity.ofNanos(BigInt(thousandths) * NANOS_A_THOUSANDTH).toString();
}
