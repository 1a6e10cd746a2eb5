import type { MetricsBatch, MetricsPoint, PodPoints } from '#lib/resource-metrics/metrics-batch.ts';
import type { ReadingResponse } from '#lib/resource-metrics/sink/reading-response.ts';

/** Reference time of specs by the kubelet's clock, in whole seconds. */
export const T0_MS = Date.UTC(2026, 10, 21, 9, 0, 0);

export const at = (seconds: number): number => T0_MS + seconds * 1000;

/** A container that started long ago, has used one core-second and uses 1 MiB, with changes. */
export function containerPoint(changes: Partial<MetricsPoint> = {}): MetricsPoint {
  return {
    name: 'app',
    startedAtMs: at(-3600),
    takenAtMs: at(0),
    cpuCoreNanoseconds: 1e9,
    cpuUsageNanocores: undefined,
    memoryBytes: 1024 * 1024,
    ...changes,
  };
}

/** A node that started long ago, with changes. */
export function nodePoint(changes: Partial<MetricsPoint> = {}): MetricsPoint {
  return {
    name: 'node-1',
    startedAtMs: at(-86_400),
    takenAtMs: at(0),
    cpuCoreNanoseconds: 5e12,
    memoryBytes: 2 ** 30,
    cpuUsageNanocores: 250_000_000,
    ...changes,
  };
}

/** A complete pod `default/web-1`, with changes. */
export function podPoints(changes: Partial<PodPoints> = {}): PodPoints {
  return {
    namespace: 'default',
    name: 'web-1',
    uid: 'uid-web-1',
    containers: [containerPoint()],
    incompleteBecause: undefined,
    ...changes,
  };
}

/** The response of node `node-1` without pods, with changes. */
export function metricsBatch(changes: Partial<MetricsBatch> = {}): MetricsBatch {
  return {
    nodeName: 'node-1',
    requestedAtMs: changes.receivedAtMs ?? 0,
    respondedAtMs: changes.receivedAtMs ?? 0,
    receivedAtMs: 0,
    stampResolution: 'second',
    node: nodePoint(),
    pods: [],
    ignored: [],
    ...changes,
  };
}

/** A response in whole seconds that arrived at once, of a kubelet that reads containers on demand. */
export function readingResponse(
  changes: Partial<ReadingResponse> & { readonly atMs?: number } = {},
): ReadingResponse {
  const { atMs = 0, ...others } = changes;
  return {
    requestedAtMs: atMs,
    respondedAtMs: atMs,
    receivedAtMs: atMs,
    stampResolution: 'second',
    minLeadMs: Number.NEGATIVE_INFINITY,
    maxLeadMs: Number.POSITIVE_INFINITY,
    consistentSinceMs: Number.NEGATIVE_INFINITY,
    consistentSamples: 10,
    ...others,
  };
}
