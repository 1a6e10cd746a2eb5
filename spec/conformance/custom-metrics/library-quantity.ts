const NANO = 9;
const MAX_BINARY_NANOS = (2n ** 63n - 1n) * 10n ** 9n;
/** This many digits always fit into 64 bits. */
const FITTING_DIGITS = 18;
const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const QUANTITY =
  /^(?<sign>[+-]?)0*(?<whole>\d*)(?:\.(?<fraction>\d*))?(?<suffix>[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;

/**
 * The output of Kubernetes' library for a quantity that it has parsed, which is not always the canonical form: a short number
 * that seems to be canonical keeps its spelling (`+5`, `00012`, `1E6`), and decimal ones have no maximum.
 *
 * @throws Error if the text is not a quantity
 */
export function libraryQuantity(text: string): string {
  const groups = QUANTITY.exec(text)?.groups;
  if (!groups || !/\d/.test(text)) throw new Error(`No quantity: ${JSON.stringify(text)}`);
  const { sign, suffix = '', fraction = '' } = groups;
  const whole = groups.whole || '0';
  const binary = BINARY_SUFFIXES.indexOf(suffix, 1);
  const exponent = /^[eE]\S/.test(suffix)
    ? Number(suffix.slice(1))
    : (DECIMAL_SUFFIXES.indexOf(suffix) - 3) * 3;
  const isRetained =
    binary > 0
      ? seemsBinary(whole, fraction, binary)
      : seemsDecimal(whole, fraction, exponent - fraction.length);
  if (isRetained) return text;
  const digits = BigInt(whole + fraction);
  const nanos =
    binary > 0
      ? min(shifted(digits * 1024n ** BigInt(binary), NANO - fraction.length), MAX_BINARY_NANOS)
      : shifted(digits, exponent - fraction.length + NANO);
  const written = canonical(nanos, binary > 0 ? 'binary' : /^[eE]\S/.test(suffix) ? 'exponent' : 'decimal');
  return sign === '-' && nanos > 0n ? `-${written}` : written;
}

function seemsDecimal(whole: string, fraction: string, scale: number): boolean {
  const digits = whole + fraction;
  const isShort = digits.length <= FITTING_DIGITS && scale >= -NANO;
  return isShort && scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
}

function seemsBinary(whole: string, fraction: string, power: number): boolean {
  const isShort = fraction === '' && 14 - whole.length - power * 3 >= 0;
  return isShort && BigInt(whole) % 8n !== 0n;
}

/** Multiplies by a power of ten and rounds up. */
function shifted(digits: bigint, power: number): bigint {
  if (power >= 0) return digits * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return (digits + divisor - 1n) / divisor;
}

function canonical(nanos: bigint, format: 'decimal' | 'exponent' | 'binary'): string {
  if (nanos === 0n) return '0';
  const units = nanos / 10n ** 9n;
  if (format === 'binary' && units * 10n ** 9n === nanos && units >= 1024n) {
    const { mantissa, steps } = stripped(units, 1024n, BINARY_SUFFIXES.length - 1);
    return `${mantissa}${BINARY_SUFFIXES[steps]}`;
  }
  const max = format === 'exponent' ? Number.POSITIVE_INFINITY : DECIMAL_SUFFIXES.length - 1;
  const { mantissa, steps } = stripped(nanos, 1000n, max);
  const exponent = 3 * steps - NANO;
  if (format === 'exponent') return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`;
  return `${mantissa}${DECIMAL_SUFFIXES[steps]}`;
}

function stripped(amount: bigint, base: bigint, max: number): { mantissa: bigint; steps: number } {
  let [mantissa, steps] = [amount, 0];
  for (; steps < max && mantissa % base === 0n; steps++) mantissa /= base;
  return { mantissa, steps };
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
