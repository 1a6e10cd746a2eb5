import { Quantity, type QuantityFormat } from '#lib/kubernetes/quantity.ts';

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
