import * as z from 'zod/mini';
import { MalformedResponse } from '#lib/kubernetes/client/malformed-response.ts';
import type { PodValue } from '../objects/metric-reading.ts';

/** A value of the custom or external metrics API. */
export interface MetricValue extends PodValue {
  readonly takenAtMs: number | undefined;
}

const LIST = z.object({ items: z.nullish(z.array(z.unknown())) });
const VALUE = z.object({
  describedObject: z.optional(z.object({ name: z.optional(z.string()) })),
  timestamp: z.nullish(z.string()),
  value: z.union([z.string(), z.number()]),
});

/**
 * Reads a MetricValueList or ExternalMetricValueList of any version. An item without a value is left out.
 *
 * @throws {MalformedResponse} for what is no list
 */
export function metricValues(response: unknown): readonly MetricValue[] {
  const list = LIST.safeParse(response);
  if (!list.success) throw new MalformedResponse('the response is no list of metrics', { cause: list.error });
  return (list.data.items ?? []).flatMap((item) => {
    const read = VALUE.safeParse(item);
    if (!read.success) return [];
    const { describedObject, timestamp, value } = read.data;
    const takenAtMs = timestamp ? Date.parse(timestamp) : Number.NaN;
    return {
      pod: describedObject?.name ?? '',
      value: String(value),
      takenAtMs: Number.isNaN(takenAtMs) ? undefined : takenAtMs,
    };
  });
}

/** When the oldest of some values was taken, as a reading tells it. */
export function oldestOf(values: readonly MetricValue[]): { readonly takenAtMs?: number } {
  let oldest: number | undefined;
  for (const { takenAtMs } of values) {
    if (takenAtMs !== undefined && !(oldest !== undefined && oldest <= takenAtMs)) oldest = takenAtMs;
  }
  return oldest === undefined ? {} : { takenAtMs: oldest };
}
