/**
 * Writes thousandths as Kubernetes writes a quantity of the decimal format: `2500m`, `3`, `20k`.
 */
export function formatThousandths(thousandths: bigint): string {
  return withSuffix(thousandths, 1000n, DECIMAL_SUFFIXES);
}

/**
 * Writes thousandths as Kubernetes writes a quantity of the binary format: `64Mi`, `91000000`.
 *
 * Below 1024, and where thousandths would be lost, Kubernetes falls back to the decimal format.
 */
export function formatBinaryThousandths(thousandths: bigint): string {
  const whole = thousandths / 1000n;
  const isSmall = thousandths > -1_024_000n && thousandths < 1_024_000n;
  if (isSmall || whole * 1000n !== thousandths) return formatThousandths(thousandths);
  return withSuffix(whole, 1024n, BINARY_SUFFIXES);
}

const DECIMAL_SUFFIXES = ['m', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** The canonical form: the largest suffix that leaves a whole number in front of it. */
function withSuffix(amount: bigint, base: bigint, suffixes: readonly string[]): string {
  if (amount === 0n) return '0';
  let mantissa = amount;
  let step = 0;
  while (step < suffixes.length - 1 && mantissa % base === 0n) {
    mantissa /= base;
    step++;
  }
  return `${mantissa}${suffixes[step]}`;
}
