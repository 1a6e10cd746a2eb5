import { StatusError } from '#lib/apiserver/http/status-error.ts';
import type { Collection } from '#lib/collection/collection.ts';
import { failureText } from '#lib/collection/failure-text.ts';
import type { StoredMetrics, StoredObjectMetric } from '#lib/collection/metric-store.ts';
import type { MetricValue, ObjectValue } from '#lib/collection/metrics-provider.ts';
import type { Reading } from '#lib/collection/poll-results.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { formatValue } from '#lib/kubernetes/quantity.ts';
import type { Sample } from '#lib/sources/sample.ts';
import { type HpaMetric, nameOfMetric } from '../collected-metrics.ts';
import type { ObjectLabels } from '../targets/object-labels.ts';
import type { TargetPods } from '../targets/target-pods.ts';
import type { CollectedHpa, CollectedMetric } from './collected-hpa.ts';
import { externalSubject } from './metric-owners.ts';

/** Values and labels of objects, read on request. */
interface StoredMetricsOptions {
  readonly collection: Pick<Collection, 'reading' | 'failure'>;
  readonly pods: Pick<TargetPods, 'live'>;
  readonly objectLabels: Pick<ObjectLabels, 'labelsOf'>;
}

/** Why a metric has no value, for the owner of the HPA. */
export function cannotCollect(metric: HpaMetric, why: string): string {
  return `Cannot collect ${nameOfMetric(metric)}: ${why}`;
}

/** The collected metrics of an HPA, as the metrics APIs serve them; values are read from the collection on request. */
export function storedMetrics(
  owner: string,
  collected: CollectedHpa,
  options: StoredMetricsOptions,
): StoredMetrics {
  const { hpa, metrics } = collected;
  const readingOf = ({ key }: CollectedMetric) => options.collection.reading(owner, key);
  const failureOf = ({ key, metric }: CollectedMetric) => {
    const { error } = options.collection.failure(owner, key) ?? {};
    return error && new StatusError(500, 'InternalError', cannotCollect(metric, failureText(error)));
  };
  return {
    external: metrics
      .filter(({ metric }) => metric.type === 'External')
      .map((one) => ({
        namespace: hpa.namespace,
        name: one.metric.name,
        labels: one.metric.matchLabels,
        identity: externalSubject(one.metric) + one.query.key,
        values: () => {
          const reading = readingOf(one);
          if (reading) return servedSamples(one, reading).map((sample) => metricValue(sample, reading));
          const failure = failureOf(one);
          if (failure) throw failure;
          return [];
        },
      })),
    objects: metrics.flatMap((one) => {
      if (one.metric.type === 'Pods') return podsMetric(one, { collected, readingOf, failureOf, options });
      return one.resource ? objectMetric(one, { collected, readingOf, failureOf, options }) : [];
    }),
  };
}

/** The first row, or all rows that match the labels of the HPA's selector. */
function servedSamples(
  { servesAll, metric: { matchLabels } }: CollectedMetric,
  { samples }: Reading,
): readonly Sample[] {
  if (!servesAll) return samples.slice(0, 1);
  const required = Object.entries(matchLabels);
  return samples.filter(({ labels }) =>
    required.every(([name, value]) => !Object.hasOwn(labels, name) || getOwn(labels, name) === value),
  );
}

interface Context {
  readonly collected: CollectedHpa;
  readonly readingOf: (metric: CollectedMetric) => Reading | undefined;
  /** For the client, where the source of a metric fails. */
  readonly failureOf: (metric: CollectedMetric) => StatusError | undefined;
  readonly options: StoredMetricsOptions;
}

/** Values of pods that still exist, by their current labels. */
function podsMetric(
  one: CollectedMetric,
  { collected, readingOf, failureOf, options }: Context,
): StoredObjectMetric {
  const { namespace } = collected.hpa;
  return {
    ...{ resource: 'pods', isNamespaced: true, namespace },
    name: one.metric.name,
    labels: one.metric.matchLabels,
    failure: () => (readingOf(one) ? undefined : failureOf(one)),
    values: (isSelected) => {
      const reading = readingOf(one);
      return (reading?.samples ?? []).flatMap((sample): readonly ObjectValue[] => {
        const { pod: name = '', uid = '' } = sample.labels;
        const live = options.pods.live(namespace, { name, uid });
        if (!live || !reading || !isSelected({ name, labels: live.labels })) return [];
        const object = { group: '', version: 'v1', kind: 'Pod', namespace, name };
        return [{ ...metricValue(sample, reading), sourceLabels: undefined, object }];
      });
    },
  };
}

function objectMetric(
  one: CollectedMetric,
  { collected, readingOf, failureOf, options }: Context,
): StoredObjectMetric {
  const { hpa } = collected;
  const { plural = '', group = '', namespaced = true } = one.resource ?? {};
  const object = objectOf(one, hpa.namespace);
  return {
    resource: group === '' ? plural : `${plural}.${group}`,
    isNamespaced: namespaced,
    namespace: object.namespace,
    name: one.metric.name,
    labels: one.metric.matchLabels,
    failure: (isSelected) => {
      const labels = options.objectLabels.labelsOf(object);
      return !readingOf(one) && isSelected({ name: object.name, labels }) ? failureOf(one) : undefined;
    },
    values: (isSelected) => {
      if (!isSelected({ name: object.name, labels: options.objectLabels.labelsOf(object) })) return [];
      const reading = readingOf(one);
      const [sample] = reading?.samples ?? [];
      const replicas = one.perReplica ? hpa.replicas : 1;
      if (!reading || !sample || !replicas) return []; // no replicas: skip, would divide by zero
      const value = metricValue({ ...sample, value: sample.value / replicas }, reading);
      return [{ ...value, sourceLabels: undefined, object }];
    },
  };
}

function metricValue(
  { value, takenAtMs, windowSeconds, labels }: Sample,
  { receivedAtMs }: Reading,
): MetricValue {
  const time = takenAtMs ?? receivedAtMs;
  return { value: formatValue(value), takenAtMs: time, windowSeconds, sourceLabels: labels };
}

function objectOf({ metric, resource }: CollectedMetric, hpaNamespace: string): ObjectValue['object'] {
  const { group = '', version = '', kind = '', namespaced = true } = resource ?? {};
  const namespace = namespaced ? hpaNamespace : '';
  return { group, version, kind, namespace, name: metric.describedObject?.name ?? '' };
}
