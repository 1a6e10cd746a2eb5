import * as z from 'zod/mini';
import { listItems } from './list-items.ts';

/** An item of the custom or external metrics API. */
export interface MetricValue {
  /** Of an external metric empty. */
  readonly pod: string;
  /** `undefined` where the item has none that can be read. */
  readonly value: string | undefined;
  readonly takenAtMs: number | undefined;
}

const VALUE = z.object({
  describedObject: z.optional(z.object({ name: z.optional(z.string()) })),
  timestamp: z.nullish(z.string()),
  value: z.union([z.string(), z.number()]),
});

/**
 * Reads a MetricValueList or ExternalMetricValueList of any version.
 *
 * @throws a MalformedResponse for what is no list
 */
export function metricValues(response: unknown): readonly MetricValue[] {
  return listItems(response, 'metrics').map((item) => {
    const read = VALUE.safeParse(item);
    if (!read.success) return WITHOUT_VALUE;
    const { describedObject, timestamp, value } = read.data;
    const takenAtMs = timestamp ? Date.parse(timestamp) : Number.NaN;
    return {
      pod: describedObject?.name ?? '',
      value: String(value),
      takenAtMs: Number.isNaN(takenAtMs) ? undefined : takenAtMs,
    };
  });
}

const WITHOUT_VALUE: MetricValue = { pod: '', value: undefined, takenAtMs: undefined };

/** When the oldest of some values was taken, as a reading tells it. */
export function oldestOf(values: readonly MetricValue[]): { readonly takenAtMs?: number } {
  let oldest: number | undefined;
  for (const { takenAtMs } of values) {
    if (takenAtMs !== undefined && !(oldest !== undefined && oldest <= takenAtMs)) oldest = takenAtMs;
  }
  return oldest === undefined ? {} : { takenAtMs: oldest };
}
