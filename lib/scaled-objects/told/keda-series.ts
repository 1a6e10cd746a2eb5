import { exposition, type SeriesFamily, type SeriesSample } from '#lib/telemetry/exposition.ts';
import type { SlicedSeries } from '#lib/telemetry/sliced-registry.ts';
import { requestsOf } from '../api/annotations.ts';
import { compositeOf } from '../metrics/evaluate-triggers.ts';
import { scalerName } from '../triggers/scaler-names.ts';
import type { ObservedMetric } from '../values/metric-state.ts';
import { COMPOSITE_METRIC } from '../values/modifiers.ts';
import {
  type ToldObject,
  type ToldObjectsOptions,
  toldScaledJobs,
  toldScaledObjects,
} from './told-object.ts';

/** The `keda_*` series of objects, under the names and labels that dashboards know. */
export function kedaSeries(options: ToldObjectsOptions): SlicedSeries {
  return exposition(FAMILIES, () => [...toldScaledObjects(options), ...toldScaledJobs(options)]);
}

type Family = SeriesFamily<ToldObject>;

const gauge = (name: string, help: string, samples: Family['samples']): Family => ({
  ...{ name, help, samples, type: 'gauge' },
});
const counter = (name: string, help: string, samples: Family['samples']): Family => ({
  ...{ name, help, samples, type: 'counter' },
});

const FAMILIES: readonly Family[] = [
  gauge('keda_scaler_metrics_value', 'What a trigger told last, while it responds', function* (told) {
    for (const one of told.observed) {
      const { state } = one;
      if (state.kind === 'value')
        yield { labels: metricLabels(told, one), value: state.values.reduce((sum, value) => sum + value, 0) };
    }
    yield* composite(told);
  }),
  gauge(
    'keda_scaler_metrics_latency_seconds',
    'How long the last request of a trigger took',
    function* (told) {
      for (const one of told.observed) {
        const record = told.collection.record(told.key, one.metric.metricName);
        if (record) yield { labels: metricLabels(told, one), value: record.durationMs / 1000 };
      }
    },
  ),
  gauge('keda_scaler_active', 'Whether a trigger is active', function* (told) {
    for (const one of told.observed) {
      const isActive = one.state.kind === 'value' ? one.state.isActive : one.state.kind === 'fallback';
      yield { labels: metricLabels(told, one), value: isActive ? 1 : 0 };
    }
    for (const trigger of told.plan?.triggers ?? [])
      if (trigger.resource)
        yield { labels: labelsOf(told, { ...trigger, metric: trigger.resource.resource }), value: 1 };
  }),
  counter('keda_scaler_detail_errors_total', 'Requests of a trigger that failed', function* (told) {
    for (const one of told.observed) yield { labels: metricLabels(told, one), value: failedCount(told, one) };
  }),
  counter(
    'keda_scaler_empty_upstream_responses_total',
    'Responses to requests of a trigger that had no value',
    function* (told) {
      for (const one of told.observed) yield* emptyResponses(told, one);
    },
  ),
  counter(
    'keda_scaler_http_requests_total',
    'Requests of a trigger by HTTP, by their status',
    function* (told) {
      for (const one of told.observed) yield* httpRequests(told, one);
    },
  ),
  gauge('keda_scaled_object_paused', 'Whether a ScaledObject is paused', function* ({ kind, object }) {
    const labels = { namespace: object.metadata.namespace ?? '', scaledObject: object.metadata.name };
    if (kind === 'ScaledObject') yield { labels, value: requestsOf(object).isPaused ? 1 : 0 };
  }),
  counter('keda_scaled_object_errors_total', 'Failures of the triggers of a ScaledObject', (told) =>
    errors(told, 'ScaledObject', 'scaledObject'),
  ),
  counter('keda_scaled_job_errors_total', 'Failures of the triggers of a ScaledJob', (told) =>
    errors(told, 'ScaledJob', 'scaledJob'),
  ),
  gauge(
    'keda_internal_scale_loop_latency_seconds',
    'How much later than they were due the triggers of an object were asked last',
    function* ({ kind, key, object, observed, collection }) {
      const late = observed.map(({ metric }) => collection.record(key, metric.metricName)?.latenessMs ?? 0);
      const { namespace = '', name } = object.metadata;
      if (late.length > 0)
        yield {
          labels: { namespace, type: kind.toLowerCase(), resource: name },
          value: late.reduce((a, b) => Math.max(a, b)) / 1000,
        };
    },
  ),
];

function metricLabels(told: ToldObject, { trigger, metric }: ObservedMetric): SeriesSample['labels'] {
  return labelsOf(told, { ...trigger, metric: metric.metricName });
}

function labelsOf(
  { kind, object }: ToldObject,
  trigger: {
    readonly metric: string;
    readonly name: string | undefined;
    readonly type: string;
    readonly index: number;
  },
): SeriesSample['labels'] {
  const { namespace = '', name } = object.metadata;
  return {
    ...{ namespace, metric: trigger.metric, scaledObject: name, scaler: scalerName(trigger) },
    ...{ triggerIndex: trigger.index, type: kind.toLowerCase() },
  };
}

function* composite(told: ToldObject): Iterable<SeriesSample> {
  const { modifiers, fallback } = told.compiled ?? {};
  if (!modifiers || told.observed.length === 0) return;
  const unknown = { replicas: undefined, readyPods: undefined };
  const found = compositeOf(told.observed, { ...unknown, modifiers, fallback });
  const labels = labelsOf(told, { metric: COMPOSITE_METRIC, name: COMPOSITE_METRIC, type: '', index: 0 });
  if (found.kind === 'value') yield { labels, value: found.value };
}

function failedCount({ key, collection }: ToldObject, { metric }: ObservedMetric): number {
  return collection.record(key, metric.metricName)?.failedCount ?? 0;
}

function* emptyResponses(
  { kind, key, object, collection }: ToldObject,
  { trigger, metric }: ObservedMetric,
): Iterable<SeriesSample> {
  if (metric.isEmptyZero === undefined) return;
  const { namespace = '', name } = object.metadata;
  yield {
    labels: {
      ...{ namespace, scaledResource: name, triggerName: trigger.name ?? '' },
      ...{ metricName: metric.metricName, resourceType: kind },
      ignoreNullValues: String(metric.isEmptyZero),
    },
    value: collection.record(key, metric.metricName)?.emptyCount ?? 0,
  };
}

function* httpRequests(
  { key, object, collection }: ToldObject,
  { trigger, metric }: ObservedMetric,
): Iterable<SeriesSample> {
  const { namespace = '', name } = object.metadata;
  for (const [status, value] of collection.query(key, metric.metricName)?.requests?.counts ?? [])
    yield {
      labels: {
        ...{ namespace, scaled_resource: name, scaler: scalerName(trigger) },
        ...{ trigger_name: trigger.name ?? '', metric_name: metric.metricName, status_code: status },
      },
      value,
    };
}

function* errors(told: ToldObject, kind: ToldObject['kind'], label: string): Iterable<SeriesSample> {
  if (told.kind !== kind) return;
  const { namespace = '', name } = told.object.metadata;
  const failed = told.observed.reduce((sum, one) => sum + failedCount(told, one), 0);
  yield { labels: { namespace, [label]: name }, value: failed + told.failedPlans };
}
