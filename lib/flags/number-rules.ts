/** The rule of a number that may be 0, but not less. */
export function notNegative(value: number): string | undefined {
  return value >= 0 ? undefined : 'must not be negative';
}

/** The rule of a number that must be more than 0. */
export function positive(value: number): string | undefined {
  return value > 0 ? undefined : 'must be above 0';
}
