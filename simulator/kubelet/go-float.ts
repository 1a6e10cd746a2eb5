/**
 * Writes a finite number as Go's `strconv.FormatFloat(value, 'g', -1, 64)` does, and so as kubelets write the
 * exposition: `495616`, `2.5440256e+07`, `0.012046741`. The exponent appears from a million on and below 0.0001.
 */
export function formatGoFloat(value: number): string {
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return String(value);
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
