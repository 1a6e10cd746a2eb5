/** The rule of a number that may be 0, but not less. */
export function notNegative(value: number): string | undefined {
  return value >= 0 ? undefined : 'must not be negative';
}
