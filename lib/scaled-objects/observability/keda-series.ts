import type { VersionInfo } from '#lib/apiserver/discovery/version-info.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { exposition, type SeriesFamily, type SeriesSample } from '#lib/telemetry/exposition.ts';
import type { SlicedSeries } from '#lib/telemetry/sliced-registry.ts';
import type { TriggerSpec } from '../api/scaled-object.ts';
import { evaluateComposite } from '../metrics/evaluate-triggers.ts';
import type { ObservedMetric } from '../metrics/metric-state.ts';
import { COMPOSITE_METRIC } from '../preparation/scaling-modifiers.ts';
import type { TriggerTypes } from '../triggers/trigger-registry.ts';
import {
  type ObjectReport,
  type ObjectReportOptions,
  reportScaledJobs,
  reportScaledObjects,
} from './object-report.ts';

/** Text of the series of one namespace: some 10,000 triggers. */
const MAX_NAMESPACE_BYTES = 16 * 1024 * 1024;

/** The `keda_*` series of objects, with the names and labels of KEDA. */
export function kedaSeries(options: ObjectReportOptions): SlicedSeries {
  function* reports(): Iterable<ObjectReport> {
    yield* reportScaledObjects(options);
    yield* reportScaledJobs(options);
  }
  return exposition(FAMILIES, reports, {
    maxBytes: MAX_NAMESPACE_BYTES,
    tenantOf: ({ object }) => object.metadata.namespace ?? '',
    omittedName: 'autoscaler_scaled_objects_omitted_series',
  });
}

type Family = SeriesFamily<ObjectReport>;

const gauge = (name: string, help: string, samples: Family['samples']): Family => ({
  ...{ name, help, samples, type: 'gauge' },
});
const counter = (name: string, help: string, samples: Family['samples']): Family => ({
  ...{ name, help, samples, type: 'counter' },
});

/** A sample for each metric that has a value. */
function perMetric(
  measure: (report: ObjectReport, one: ObservedMetric) => number | undefined,
): Family['samples'] {
  return function* (report) {
    for (const one of report.observed) {
      const value = measure(report, one);
      if (value === undefined) continue;
      yield { labels: labelsOf(report, { ...one.trigger, metric: one.metric.metricName }), value };
    }
  };
}

const VALUES = perMetric((_, { state }) =>
  state.kind === 'value' ? state.values.reduce((sum, value) => sum + value, 0) : undefined,
);
const ACTIVITY = perMetric((_, { state }) =>
  Number(state.kind === 'value' ? state.isActive : state.kind === 'fallback'),
);

const FAMILIES: readonly Family[] = [
  gauge(
    'keda_scaler_metrics_value',
    'Value of the last poll of a trigger; absent while the trigger fails',
    function* (report) {
      yield* VALUES(report);
      yield* composite(report);
    },
  ),
  gauge(
    'keda_scaler_metrics_latency_seconds',
    'Duration of the last poll of a trigger, in seconds',
    perMetric(({ key, collection }, { metric }) => {
      const record = collection.record(key, metric.metricName);
      return record && record.durationMs / 1000;
    }),
  ),
  gauge('keda_scaler_active', 'Whether a trigger is active (1) or not (0)', function* (report) {
    yield* ACTIVITY(report);
    for (const trigger of report.plan?.triggers ?? [])
      if (trigger.resource)
        yield { labels: labelsOf(report, { ...trigger, metric: trigger.resource.resource }), value: 1 };
  }),
  counter('keda_scaler_detail_errors_total', 'Failed polls of a trigger', perMetric(failedCount)),
  counter(
    'keda_scaler_empty_upstream_responses_total',
    'Polls of a trigger whose response had no value',
    function* (report) {
      for (const one of report.observed) yield* emptyResponses(report, one);
    },
  ),
  counter(
    'keda_scaler_http_requests_total',
    'HTTP requests that a trigger sent, by status code of the response',
    function* (report) {
      for (const one of report.observed) yield* httpRequests(report, one);
    },
  ),
  gauge(
    'keda_scaled_object_paused',
    'Whether a ScaledObject is paused (1) or not (0)',
    function* ({ prepared }) {
      if (!prepared) return;
      const labels = { namespace: prepared.namespace, scaledObject: prepared.name };
      yield { labels, value: prepared.annotations.isPaused ? 1 : 0 };
    },
  ),
  counter('keda_scaled_object_errors_total', 'Failures of the triggers of a ScaledObject', (report) =>
    errors(report, 'ScaledObject', 'scaledObject'),
  ),
  counter('keda_scaled_job_errors_total', 'Failures of the triggers of a ScaledJob', (report) =>
    errors(report, 'ScaledJob', 'scaledJob'),
  ),
  gauge(
    'keda_internal_scale_loop_latency_seconds',
    'How late the last polls of an object started, for the trigger with the largest delay, in seconds',
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

function labelsOf(
  { kind, object }: ObjectReport,
  trigger: {
    readonly metric: string;
    readonly scaler: string;
    readonly index: number;
  },
): SeriesSample['labels'] {
  const { namespace = '', name } = object.metadata;
  return {
    ...{ namespace, metric: trigger.metric, scaledObject: name, scaler: trigger.scaler },
    ...{ triggerIndex: trigger.index, type: kind.toLowerCase() },
  };
}

function* composite(report: ObjectReport): Iterable<SeriesSample> {
  const { modifiers, fallback } = report.prepared ?? {};
  if (!modifiers || report.observed.length === 0) return;
  const unknown = { replicas: undefined, readyPods: undefined };
  const found = evaluateComposite(report.observed, { ...unknown, modifiers, fallback });
  const labels = labelsOf(report, { metric: COMPOSITE_METRIC, scaler: COMPOSITE_METRIC, index: 0 });
  if (found.kind === 'value') yield { labels, value: found.value };
}

function failedCount({ key, collection }: ObjectReport, { metric }: ObservedMetric): number {
  return collection.record(key, metric.metricName)?.failedCount ?? 0;
}

function* emptyResponses(
  { kind, key, object, collection }: ObjectReport,
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
  { key, object, collection }: ObjectReport,
  { trigger, metric }: ObservedMetric,
): Iterable<SeriesSample> {
  const { namespace = '', name } = object.metadata;
  for (const [status, value] of collection.query(key, metric.metricName)?.requests?.counts ?? [])
    yield {
      labels: {
        ...{ namespace, scaled_resource: name, scaler: trigger.scaler },
        ...{ trigger_name: trigger.name ?? '', metric_name: metric.metricName, status_code: status },
      },
      value,
    };
}

function* errors(report: ObjectReport, kind: ObjectReport['kind'], label: string): Iterable<SeriesSample> {
  if (report.kind !== kind) return;
  const { namespace = '', name } = report.object.metadata;
  const failed = report.observed.reduce((sum, one) => sum + failedCount(report, one), 0);
  yield { labels: { namespace, [label]: name }, value: failed + report.failedPlans };
}

/** `keda_build_info` with the labels of KEDA; `goversion` is the version of Node.js. */
export function buildSeries({ gitVersion, gitCommit, goVersion, platform }: VersionInfo): SlicedSeries {
  const [goos = '', goarch = ''] = platform.split('/');
  const labels = { version: gitVersion, git_commit: gitCommit, goversion: goVersion, goos, goarch };
  const family: SeriesFamily<undefined> = {
    name: 'keda_build_info',
    help: 'Version and platform of this program',
    type: 'gauge',
    samples: () => [{ labels, value: 1 }],
  };
  return exposition([family], () => [undefined]);
}

interface RegisteredOptions {
  /** The supported types of triggers; others are counted together, since users may write any text. */
  readonly types: Pick<TriggerTypes, 'has'>;
  /** By the value of the label `type`. */
  readonly kinds: Readonly<Record<string, { values(): Iterable<RegisteredObject> }>>;
}

type RegisteredObject = KubernetesObject & {
  readonly spec?: object | undefined;
};

/** Value of the label `type` for triggers of unsupported types. */
const OTHERS = 'other';
/** Value of the label `namespace` for cluster-scoped objects, as in KEDA. */
const NO_NAMESPACE = 'default';

/** Numbers of objects and triggers, with the names of KEDA. */
export function registeredSeries(options: RegisteredOptions): SlicedSeries {
  const families: readonly SeriesFamily<Counts>[] = [
    {
      ...{ name: 'keda_trigger_registered_total', help: 'Triggers by type' },
      ...{ type: 'gauge', samples: (counts: Counts) => samplesOf(counts.triggers, ['type']) },
    },
    {
      ...{ name: 'keda_resource_registered_total', help: 'Objects by kind and namespace' },
      ...{ type: 'gauge', samples: (counts: Counts) => samplesOf(counts.objects, ['type', 'namespace']) },
    },
  ];
  return {
    *slices() {
      const counts = yield* countAll(options);
      yield* exposition(families, () => [counts]).slices();
    },
  };
}

type Counter = ReadonlyMap<string, number>;
interface Counts {
  readonly triggers: Counter;
  readonly objects: Counter;
}

/** Yields an empty slice after each object. */
function* countAll({ kinds, types }: RegisteredOptions): Generator<string, Counts, void> {
  const [triggers, objects] = [new Map<string, number>(), new Map<string, number>()];
  const count = (counter: Map<string, number>, ...words: readonly string[]) => {
    const key = JSON.stringify(words);
    counter.set(key, (counter.get(key) ?? 0) + 1);
  };
  for (const [kind, informer] of Object.entries(kinds)) {
    for (const { metadata, spec } of informer.values()) {
      count(objects, kind, metadata.namespace ?? NO_NAMESPACE);
      for (const { type } of triggersOf(spec)) count(triggers, types.has(type) ? type : OTHERS);
      yield '';
    }
  }
  return { triggers, objects };
}

function triggersOf(spec: object | undefined): readonly TriggerSpec[] {
  return spec && 'triggers' in spec ? (spec.triggers as readonly TriggerSpec[]) : [];
}

function* samplesOf(counter: Counter, names: readonly string[]): Iterable<SeriesSample> {
  for (const [key, value] of counter) {
    const words: readonly string[] = JSON.parse(key);
    yield { labels: Object.fromEntries(names.map((name, index) => [name, words[index] ?? ''])), value };
  }
}
