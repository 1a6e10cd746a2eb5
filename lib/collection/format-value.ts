import { Quantity } from '#lib/kubernetes/exact-quantity.ts';

/** Everything below a thousandth is cut off, as the metrics APIs' clients count. */
const NANOS_A_THOUSANDTH = 1_000_000n;
/** As many digits as a double holds for sure: 4.35 times 1000 is 4350, not 4349.999…. */
const SURE_DIGITS = 15;

/** Writes a finite number as a quantity of whole thousandths. */
export function formatValue(value: number): string {
  const thousandths = Math.trunc(Number((value * 1000).toPrecision(SURE_DIGITS)));
  return Quantity.ofNanos(BigInt(thousandths) * NANOS_A_THOUSANDTH).toString();
}
