const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
/** Databases write all digits of the largest double. */
const MAX_LENGTH = 400;

/** Parses a finite decimal number; `undefined` for other text, such as NaN, hexadecimal digits and blanks. */
export function parseDecimal(text: string): number | undefined {
  const value = text.length <= MAX_LENGTH && NUMBER.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}

/** A source responded without a value. */
export class EmptyResponseError extends Error {
  override readonly name = 'EmptyResponse';
}

/** Combines one or more numbers. */
type Aggregator = (numbers: readonly number[]) => number;

const sum: Aggregator = (numbers) => numbers.reduce((total, one) => total + one, 0);

/** By their names in configurations. */
export const AGGREGATORS = {
  avg: (numbers: readonly number[]) => sum(numbers) / numbers.length,
  min: (numbers: readonly number[]) => numbers.reduce((min, one) => Math.min(min, one)),
  max: (numbers: readonly number[]) => numbers.reduce((max, one) => Math.max(max, one)),
  sum,
} satisfies Readonly<Record<string, Aggregator>>;

export type AggregatorName = keyof typeof AGGREGATORS;

/** The last time of RFC 3339, whose years have four digits. */
const LAST_MS = Date.UTC(10_000, 0) - 1;

/** Converts the timestamp of a source to a field of {@link Sample}; omitted unless it is between 1970 and 9999. */
export function measuredAt(timeMs: number): { readonly takenAtMs?: number } {
  return timeMs >= 0 && timeMs <= LAST_MS ? { takenAtMs: Math.round(timeMs) } : {};
}

/** A number from a source. */
export interface Sample {
  readonly value: number;
  /** Labels of the source; may be empty. */
  readonly labels: Readonly<Record<string, string>>;
  /** Time of measurement, in milliseconds since the Unix epoch; absent if the source does not report it. */
  readonly takenAtMs?: number;
  /** Period of the measurement; absent if the source does not report it. */
  readonly windowSeconds?: number;
  /** The source responded without a value, and this value is configured for that case. */
  readonly isPlaceholder?: true;
}
