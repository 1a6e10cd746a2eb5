/** The smallest value that is greater than or equal to at least this share of the values. */
export function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.max(0, Math.ceil(ascending.length * share) - 1)] ?? Number.NaN;
}

/** Median of values in any order; `NaN` if there are none. */
export function median(values: readonly number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}
