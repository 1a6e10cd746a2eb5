const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/**
 * Writes CPU as Kubernetes writes the quantity of that many nanocores: `12345678n`, `50m`, `2`, `0`.
 *
 * @param nanocores not negative and below 2^53; a fraction is dropped
 */
export function formatCpuNanocores(nanocores: number): string {
  return withLargestSuffix(Math.trunc(nanocores), 1000, DECIMAL_SUFFIXES);
}

/**
 * Writes memory as Kubernetes writes the binary quantity of that many bytes: `52356Ki`, `25Mi`, `52357`.
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

/** The canonical form: the largest suffix that leaves a whole number in front of it. */
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
