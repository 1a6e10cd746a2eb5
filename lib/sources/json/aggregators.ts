/** Makes one number of several, of which there is at least one. */
export type Aggregator = (numbers: readonly number[]) => number;

const sum: Aggregator = (numbers) => numbers.reduce((total, one) => total + one, 0);

/** By the names that configurations have for them. */
export const AGGREGATORS = {
  avg: (numbers: readonly number[]) => sum(numbers) / numbers.length,
  min: (numbers: readonly number[]) => numbers.reduce((least, one) => Math.min(least, one)),
  max: (numbers: readonly number[]) => numbers.reduce((most, one) => Math.max(most, one)),
  sum,
} satisfies Readonly<Record<string, Aggregator>>;

export type AggregatorName = keyof typeof AGGREGATORS;
