import { parseDurationMs } from '#lib/time/duration.ts';
import type { PodUsage } from '../objects/metric-reading.ts';
import { listItems } from './list-items.ts';

/** A pod's sample with the labels that its server gave it; old servers give none. */
export interface LabelledUsage extends PodUsage {
  readonly labels: Readonly<Record<string, string>> | undefined;
}

/**
 * Reads a PodMetricsList. An item that cannot be read is left out: its pod counts as one without a sample.
 *
 * By hand, and without copies of what is read as it is: every pod of every HPA comes by here once a period, and a schema
 * took a twelfth of what deciding 5,000 HPAs took.
 *
 * @throws a MalformedResponse for what is no list
 */
export function podMetricsList(response: unknown): readonly LabelledUsage[] {
  const all: LabelledUsage[] = [];
  const windows = new Map<string, number | undefined>(); // most samples of a list have the same
  for (const item of listItems(response, 'pods')) {
    const usage = usageOf(item, windows);
    if (usage) all.push(usage);
  }
  return all;
}

function usageOf(item: unknown, windows: Map<string, number | undefined>): LabelledUsage | undefined {
  if (!isRecord(item) || !isRecord(item.metadata)) return undefined;
  const { metadata, timestamp, window } = item;
  const { name: pod, labels } = metadata;
  if (typeof pod !== 'string' || typeof timestamp !== 'string' || typeof window !== 'string')
    return undefined;
  if (labels !== undefined && !isTexts(labels)) return undefined;
  const containers = containersOf(item.containers);
  if (!containers) return undefined;
  const takenAtMs = Date.parse(timestamp);
  if (!windows.has(window)) windows.set(window, parseDurationMs(window));
  const windowMs = windows.get(window);
  if (Number.isNaN(takenAtMs) || windowMs === undefined) return undefined;
  return { pod, labels, takenAtMs, windowMs, containers };
}

function containersOf(value: unknown): PodUsage['containers'] | undefined {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return undefined;
  const containers: { name: string; usage: Readonly<Record<string, string>> }[] = [];
  for (const container of value as readonly unknown[]) {
    if (!isRecord(container) || typeof container.name !== 'string') return undefined;
    const usage = container.usage ?? NOTHING;
    if (!isTexts(usage)) return undefined;
    containers.push({ name: container.name, usage });
  }
  return containers;
}

const NOTHING: Readonly<Record<string, string>> = {};

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  if (!isRecord(value)) return false;
  return Object.values(value).every((text) => typeof text === 'string');
}
