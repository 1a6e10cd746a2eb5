import type { Collection } from '#lib/collection/collection.ts';
import { formatValue } from '#lib/collection/format-value.ts';
import type { StoredMetrics } from '#lib/collection/metric-store.ts';
import type { MetricValue, ObjectValue } from '#lib/collection/metrics-provider.ts';
import type { Reading } from '#lib/collection/poll.ts';
import type { CollectedHpa, CollectedMetric } from './collectors/hpa-collectors.ts';

/** What is collected for an HPA, as the metrics APIs serve it; values come from the collection when they are asked for. */
export function storedMetrics(
  owner: string,
  collected: CollectedHpa,
  collection: Pick<Collection, 'reading'>,
): StoredMetrics {
  const valuesOf = (metric: CollectedMetric) =>
    metricValue(collection.reading(owner, metric.key), metric, collected);
  const { hpa, metrics } = collected;
  return {
    external: metrics
      .filter(({ metric }) => metric.type === 'External')
      .map((one) => ({
        namespace: hpa.namespace,
        name: one.metric.name,
        labels: one.metric.matchLabels,
        identity: one.key + one.query.key,
        values: () => valuesOf(one) ?? [],
      })),
    objects: metrics.flatMap((one) => {
      const { resource, metric } = one;
      if (!resource) return [];
      const { plural, group, namespaced } = resource;
      return {
        resource: group === '' ? plural : `${plural}.${group}`,
        isNamespaced: namespaced,
        object: objectOf(one, hpa.namespace),
        name: metric.name,
        labels: metric.matchLabels,
        value: () => valuesOf(one)?.[0],
      };
    }),
  };
}

function metricValue(
  reading: Reading | undefined,
  { perReplica }: CollectedMetric,
  { hpa }: CollectedHpa,
): readonly [MetricValue] | undefined {
  const [sample] = reading?.samples ?? [];
  if (!reading || !sample) return undefined;
  const replicas = perReplica ? hpa.currentReplicas : 1;
  if (!replicas) return undefined; // divided among none, it is nobody's
  return [
    {
      value: formatValue(sample.value / replicas),
      takenAtMs: sample.takenAtMs ?? reading.receivedAtMs,
      windowSeconds: sample.windowSeconds,
    },
  ];
}

function objectOf({ metric, resource }: CollectedMetric, hpaNamespace: string): ObjectValue['object'] {
  const { group = '', version = '', kind = '', namespaced = true } = resource ?? {};
  const namespace = namespaced ? hpaNamespace : '';
  return { group, version, kind, namespace, name: metric.describedObject?.name ?? '' };
}
