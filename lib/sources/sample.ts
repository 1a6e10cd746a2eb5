const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
/** Databases write all digits of the greatest double. */
const MAX_LENGTH = 400;

/** The finite number that a server wrote as text; `undefined` for what is none, as NaN, hexadecimal digits and blanks. */
export function parseDecimal(text: string): number | undefined {
  const value = text.length <= MAX_LENGTH && NUMBER.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}

/** A source that responded, but has nothing to tell. */
export class EmptyResponseError extends Error {
  override readonly name = 'EmptyResponse';
}

/** Makes one number of several, of which there is at least one. */
type Aggregator = (numbers: readonly number[]) => number;

const sum: Aggregator = (numbers) => numbers.reduce((total, one) => total + one, 0);

/** By the names that configurations have for them. */
export const AGGREGATORS = {
  avg: (numbers: readonly number[]) => sum(numbers) / numbers.length,
  min: (numbers: readonly number[]) => numbers.reduce((least, one) => Math.min(least, one)),
  max: (numbers: readonly number[]) => numbers.reduce((most, one) => Math.max(most, one)),
  sum,
} satisfies Readonly<Record<string, Aggregator>>;

export type AggregatorName = keyof typeof AGGREGATORS;

/** The last moment that RFC 3339 can write: its years have four digits. */
const LAST_MS = Date.UTC(10_000, 0) - 1;

/** When a sample was measured, as its source says; nothing where that is no time from 1970 to 9999, which nobody could be told. */
export function measuredAt(timeMs: number): { readonly takenAtMs?: number } {
  return timeMs >= 0 && timeMs <= LAST_MS ? { takenAtMs: Math.round(timeMs) } : {};
}

/** One number that a source told. */
export interface Sample {
  readonly value: number;
  /** What it belongs to, by the source's own names; empty where the source tells none. */
  readonly labels: Readonly<Record<string, string>>;
  /** When it was measured, in milliseconds since the Unix epoch; absent where the source does not tell. */
  readonly takenAtMs?: number;
  /** The time that it covers; absent where the source does not tell. */
  readonly windowSeconds?: number;
  /** It stands for nothing: the source responded without a value, and is to be taken so. */
  readonly isPlaceholder?: true;
}
