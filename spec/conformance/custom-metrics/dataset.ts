import { readFileSync } from 'node:fs';
import { noSuchResource, StatusError } from '#lib/apiserver/http/status-error.ts';
import type {
  CustomMetricsProvider,
  ExternalMetricsProvider,
  MetricValue,
  ObjectMetricQuery,
} from '#lib/collection/metrics-provider.ts';
import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { libraryQuantity } from './library-quantity.ts';

type Labels = Readonly<Record<string, string>>;

interface RecordedValue {
  readonly namespace: string;
  readonly metric: string;
  readonly labels: Labels | null;
  readonly timestamp?: string | null;
  readonly windowSeconds?: number | null;
  readonly value: string;
}

interface RecordedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels | null;
}

/** The objects and metrics of the recorded server. */
interface Dataset {
  readonly objects: readonly RecordedObject[];
  readonly customMetrics: readonly (RecordedValue & { readonly resource: string; readonly name: string })[];
  readonly externalMetrics: readonly RecordedValue[];
  readonly failures: readonly {
    readonly metric: string;
    readonly error?: string;
    readonly status?: {
      readonly reason: string;
      readonly message: string;
      readonly code: number;
      readonly details?: { readonly retryAfterSeconds?: number };
    };
  }[];
}

/** Serves a recorded data set, as an adapter in a cluster with these objects would. */
export function readDataset(file: string): {
  readonly custom: CustomMetricsProvider;
  readonly external: ExternalMetricsProvider;
} {
  const read = JSON.parse(readFileSync(file, 'utf8')) as Partial<Dataset>;
  const dataset = { objects: [], customMetrics: [], externalMetrics: [], failures: [], ...read };
  const names = sortedSet(dataset.externalMetrics.map(({ metric }) => metric));
  const discovered = sortedSet(
    dataset.customMetrics.map(({ resource, metric }) => `${resource}/${metric}`),
  ).map((text) => {
    const resource = text.slice(0, text.indexOf('/'));
    const metric = text.slice(resource.length + 1);
    return { resource, metric, isNamespaced: isNamespaced(dataset, resource) };
  });
  return {
    external: {
      metrics: () => names,
      values(namespace, { metric, selector }) {
        failOn(dataset, metric);
        const named = dataset.externalMetrics.filter(
          (one) => one.metric.toLowerCase() === metric.toLowerCase(),
        );
        if (named.length === 0) return undefined;
        return named
          .filter((one) => one.namespace === namespace && selector.matches(one.labels ?? {}))
          .map((one) => ({ ...recordedValue(one), metric: one.metric, labels: one.labels ?? undefined }));
      },
    },
    custom: { metrics: () => discovered, values: (query) => objectValues(dataset, query) },
  };
}

function objectValues(dataset: Dataset, query: ObjectMetricQuery) {
  const { namespace, name, metric, metricSelector, labelSelector } = query;
  const resource = resourceOf(dataset, query);
  if (name !== undefined) failOn(dataset, metric);
  const objects = dataset.objects.filter((one) => one.resource === resource);
  if (name === undefined && namespace !== '' && !isNamespaced(dataset, resource)) throw noSuchResource();
  if (name === undefined) failOn(dataset, metric);
  const ofMetric = dataset.customMetrics.filter((one) => one.resource === resource && one.metric === metric);
  if (name === undefined && ofMetric.length === 0) return undefined;
  const expected = objects.filter((object) =>
    name === undefined
      ? (namespace === '' || object.namespace === namespace) && labelSelector.matches(object.labels ?? {})
      : object.namespace === namespace && object.name === name,
  );
  const values = expected
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((object) =>
      ofMetric
        .filter((one) => isOf(one, object, metricSelector))
        .map((one) => ({ ...recordedValue(one), object: { ...groupOf(object), ...object } })),
    );
  return name !== undefined && values.length === 0 ? undefined : values;
}

function isOf(
  value: Dataset['customMetrics'][number],
  object: RecordedObject,
  metricSelector: LabelSelector,
): boolean {
  const isSame = value.name === object.name && value.namespace === object.namespace;
  return isSame && metricSelector.matches(value.labels ?? {});
}

/** By plural or singular, case-insensitive, with or without the group. */
function resourceOf({ objects }: Dataset, { resource, name }: ObjectMetricQuery): string {
  const [plural = '', ...group] = resource.toLowerCase().split('.');
  const found = objects.find(({ resource: existing, kind }) => {
    const [servedPlural = '', ...servedGroup] = existing.split('.');
    const isNamed = plural === servedPlural || plural === kind.toLowerCase();
    return isNamed && (group.length === 0 || group.join('.') === servedGroup.join('.'));
  });
  if (found) return found.resource;
  const none = `no matches for ${group.join('.')}/, Resource=${plural}`;
  const preferred = 'unable to find preferred version to list matching resource names';
  throw new StatusError(500, '', name === undefined ? `${preferred}: ${none}` : none);
}

function isNamespaced({ objects }: Dataset, resource: string): boolean {
  return objects.some((object) => object.resource === resource && object.namespace !== '');
}

function groupOf({ apiVersion }: RecordedObject): { group: string; version: string } {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  return { group, version };
}

function recordedValue({ timestamp, windowSeconds, value }: RecordedValue): MetricValue {
  return {
    value: libraryQuantity(value),
    takenAtMs: timestamp ? Date.parse(timestamp) : undefined,
    windowSeconds: windowSeconds ?? undefined,
  };
}

function failOn({ failures }: Dataset, metric: string): void {
  const failure = failures.find((one) => one.metric === metric);
  if (!failure) return;
  const { status, error = '' } = failure;
  if (!status) throw new StatusError(500, '', error);
  const { code, reason, message, details } = status;
  throw new StatusError(code, reason, message, details ? { details } : {});
}

function sortedSet(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}
