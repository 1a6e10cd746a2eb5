import * as z from 'zod/mini';
import { parseDurationMs } from '#lib/time/duration.ts';
import type { PodUsage } from '../objects/metric-reading.ts';
import { listItems } from './list-items.ts';

/** A pod's sample with the labels that its server gave it; old servers give none. */
export interface LabelledUsage extends PodUsage {
  readonly labels: Readonly<Record<string, string>> | undefined;
}

const POD_METRICS = z.object({
  metadata: z.object({ name: z.string(), labels: z.optional(z.record(z.string(), z.string())) }),
  timestamp: z.string(),
  window: z.string(),
  containers: z.nullish(
    z.array(z.object({ name: z.string(), usage: z.nullish(z.record(z.string(), z.string())) })),
  ),
});

/**
 * Reads a PodMetricsList. An item that cannot be read is left out: its pod counts as one without a sample.
 *
 * @throws a MalformedResponse for what is no list
 */
export function podMetricsList(response: unknown): readonly LabelledUsage[] {
  return listItems(response, 'pods').flatMap((item) => usageOf(item) ?? []);
}

function usageOf(item: unknown): LabelledUsage | undefined {
  const read = POD_METRICS.safeParse(item);
  if (!read.success) return undefined;
  const { metadata, timestamp, window, containers } = read.data;
  const takenAtMs = Date.parse(timestamp);
  const windowMs = parseDurationMs(window);
  if (Number.isNaN(takenAtMs) || windowMs === undefined) return undefined;
  return {
    pod: metadata.name,
    labels: metadata.labels,
    takenAtMs,
    windowMs,
    containers: (containers ?? []).map(({ name, usage }) => ({ name, usage: usage ?? {} })),
  };
}
