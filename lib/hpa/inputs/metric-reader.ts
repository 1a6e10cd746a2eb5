import { type RequestedResource, serverWords } from '#lib/kubernetes/client/api-error.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import type {
  MetricSpec,
  NamedMetricSpec,
  ObjectMetricSpec,
} from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import { type LabelSelector, SelectorError } from '#lib/kubernetes/selectors/label-selector.ts';
import { metricSelector } from '#lib/kubernetes/selectors/selector-object.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { MetricReading, PodUsage } from '../decision/decision-input.ts';
import {
  type CustomMetricsApi,
  externalMetricPath,
  type MetricValuesReader,
  NO_CUSTOM_METRICS,
  objectMetricPath,
  oldestOf,
  podsMetricPath,
} from './metric-values-client.ts';
import type { NamespaceUsage, UsageList } from './pod-metrics-client.ts';

export interface MetricReaderOptions {
  readonly mapper: RestMapper;
  readonly usage: NamespaceUsage;
  readonly customMetrics: CustomMetricsApi;
  readonly values: MetricValuesReader;
}

/** The HPA for which a metric is read. */
export interface ReadingContext {
  readonly namespace: string;
  readonly selector: LabelSelector;
  readonly pods: readonly ScaledPod[];
  /** Maximum age of readings shared with other HPAs. */
  readonly maxAgeMs: number;
  readonly signal: AbortSignal;
  /** Samples of the pods, shared by all metrics that read the same list. */
  readonly selected?: WeakMap<UsageList, readonly PodUsage[]>;
}

/** Reads one metric of an HPA as Kubernetes' controller does; a failure is a reading with `error`. */
export async function readMetric(
  spec: MetricSpec,
  context: ReadingContext,
  options: MetricReaderOptions,
): Promise<MetricReading> {
  try {
    switch (spec.type) {
      case 'Resource':
      case 'ContainerResource':
        return await readUsage(context, options);
      case 'Pods':
        return await readPodsMetric(spec.pods, context, options);
      case 'Object':
        return await readObjectMetric(spec.object, context, options);
      case 'External':
        return await readExternalMetric(spec.external, context, options);
      default:
        return { error: 'metrics of this type are not supported' };
    }
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof SelectorError) return { error: error.message };
    throw error;
  }
}

async function readUsage(
  { namespace, selector, pods, maxAgeMs, signal, selected }: ReadingContext,
  { usage }: MetricReaderOptions,
): Promise<MetricReading> {
  try {
    const list = await usage.read(namespace, { maxAgeMs, signal });
    const podUsage = selected?.get(list) ?? list.select(selector, pods);
    selected?.set(list, podUsage);
    return { podUsage };
  } catch (error) {
    return failed(error, { signal, resource: 'pods', group: 'metrics.k8s.io' });
  }
}

async function readPodsMetric(
  { metric }: NamedMetricSpec,
  { namespace, selector, maxAgeMs, signal }: ReadingContext,
  { customMetrics, values }: MetricReaderOptions,
): Promise<MetricReading> {
  const metricSelectorText = metricSelector(metric.selector);
  const request = { signal, resource: 'pods', group: 'custom.metrics.k8s.io', name: '*' };
  try {
    const version = await customMetrics.version(signal);
    if (version === undefined) return { error: NO_CUSTOM_METRICS };
    const path = podsMetricPath(version, {
      namespace,
      name: metric.name,
      labelSelector: selector.toString(),
      metricSelector: metricSelectorText,
    });
    const read = await values.read(path, { maxAgeMs, signal });
    // A pod whose item has no value counts as one without a sample.
    const podValues = read.flatMap(({ pod, value }) => (value === undefined ? [] : { pod, value }));
    return { podValues, ...oldestOf(read) };
  } catch (error) {
    return failed(error, request);
  }
}

async function readObjectMetric(
  { metric, describedObject }: ObjectMetricSpec,
  { namespace, maxAgeMs, signal }: ReadingContext,
  { mapper, customMetrics, values: reader }: MetricReaderOptions,
): Promise<MetricReading> {
  const { apiVersion = 'v1', kind, name } = describedObject;
  const metricSelectorText = metricSelector(metric.selector);
  let resource = kind;
  try {
    const found = await mapper.find({ apiVersion, kind }, signal);
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
    if (!found) {
      const named = group === '' ? kind : `${kind}.${group}`;
      return {
        error: `unable to map kind ${named} to resource: no matches for kind "${kind}" in group "${group}"`,
      };
    }
    resource = found.group === '' ? found.plural : `${found.plural}.${found.group}`;
    const version = await customMetrics.version(signal);
    if (version === undefined) return { error: NO_CUSTOM_METRICS };
    const request = { namespace, name: metric.name, metricSelector: metricSelectorText };
    const path = objectMetricPath(version, request, { resource, name });
    const values = await reader.read(path, { maxAgeMs, signal });
    const [only] = values;
    if (values.length !== 1 || !only) {
      return {
        error: `the custom metrics API server returned ${values.length} results when we asked for exactly one`,
      };
    }
    const { value } = only;
    if (value === undefined)
      return { error: 'the custom metrics API server returned a result without a value' };
    return { value, ...oldestOf(values) };
  } catch (error) {
    const request =
      resource === 'namespaces' ? { resource: 'metrics', name: metric.name } : { resource, name };
    return failed(error, { signal, group: 'custom.metrics.k8s.io', ...request });
  }
}

async function readExternalMetric(
  { metric }: NamedMetricSpec,
  { namespace, maxAgeMs, signal }: ReadingContext,
  { values: reader }: MetricReaderOptions,
): Promise<MetricReading> {
  const path = externalMetricPath({
    namespace,
    name: metric.name,
    metricSelector: metricSelector(metric.selector),
  });
  try {
    const read = await reader.read(path, { maxAgeMs, signal });
    const values = read.flatMap(({ value }) => value ?? []);
    // A partial sum is too low and would scale down.
    const without = read.length - values.length;
    if (without > 0)
      return {
        error: `the external metrics API server returned ${without} of ${read.length} results without a value`,
      };
    return { values, ...oldestOf(read) };
  } catch (error) {
    const resource = metric.name.toLowerCase();
    return failed(error, { signal, resource, group: 'external.metrics.k8s.io' });
  }
}

/** @throws the reason of the signal when it has aborted */
function failed(
  error: unknown,
  { signal, ...request }: RequestedResource & { readonly signal: AbortSignal },
): MetricReading {
  signal.throwIfAborted();
  return { error: serverWords(error, request) };
}

interface ReadMetricsOptions {
  readonly reader: MetricReaderOptions;
  readonly clock: Clock;
  /** Called with the index and read duration of each metric. */
  readonly onRead: (index: number, durationMs: number) => void;
}

/** Concurrent reads of one HPA: one with a thousand metrics must not block others. */
const MAX_CONCURRENT = 8;
/** Metrics that are not read in time fail, so that a decision is made and reported within a minute. */
const TIMEOUT_MS = 40_000;

/** Reads the metrics of an HPA, in order; a late one is a failed reading and delays no other. */
export async function readMetrics(
  metrics: readonly MetricSpec[],
  context: ReadingContext,
  { reader, clock, onRead }: ReadMetricsOptions,
): Promise<readonly MetricReading[]> {
  const expired = () => new Error(LATE);
  using deadline = startDeadline(clock, TIMEOUT_MS, { signal: context.signal, expired });
  const { signal } = deadline;
  const readings: MetricReading[] = metrics.map(() => ({ error: LATE }));
  const selected = new WeakMap<UsageList, readonly PodUsage[]>();
  const waiting = metrics.entries();
  const work = async () => {
    for (const [index, metric] of waiting) {
      if (signal.aborted) return;
      const startedAtMs = clock.monotonicMs();
      const reading = await readMetric(metric, { ...context, signal, selected }, reader).catch(
        (error: unknown) => {
          context.signal.throwIfAborted();
          if (signal.aborted) return { error: LATE };
          throw error;
        },
      );
      onRead(index, clock.monotonicMs() - startedAtMs);
      readings[index] = reading;
    }
  };
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT, metrics.length) }, work));
  context.signal.throwIfAborted();
  return readings;
}

const LATE = `not read within ${formatDuration(TIMEOUT_MS)}, the time limit for all metrics of an HPA`;
