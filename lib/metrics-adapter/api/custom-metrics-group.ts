import { badRequest, StatusError } from '#lib/apiserver/http/status-error.ts';
import type {
  ApiGroup,
  ApiVersion,
  DocumentResource,
  RoutedDocument,
} from '#lib/apiserver/resources/api-group.ts';
import type { CustomMetricsProvider, DiscoveredMetric } from '#lib/collection/metrics-provider.ts';
import {
  type LabelSelector,
  parseLabelSelector,
  SelectorError,
} from '#lib/kubernetes/selectors/label-selector.ts';
import { customMetricPaths, customSchemas } from './metric-schemas.ts';
import { metricValueList, noSuchMetric, ofSameArray, structuredSelector } from './metric-value-list.ts';

const GROUP = 'custom.metrics.k8s.io';
const ALL_NAMES = ['*', ''];

/** `custom.metrics.k8s.io`: values of objects, by name or by the objects' labels. */
export function customMetricsGroup(provider: CustomMetricsProvider): ApiGroup {
  const resourcesOf = ofSameArray((metrics: readonly DiscoveredMetric[]) => metrics.map(resourceOf));
  const versionOf = (version: 'v1beta1' | 'v1beta2'): ApiVersion => ({
    version,
    resources: () => resourcesOf(provider.metrics()),
    route: (segments) => {
      const path = pathOf(segments);
      return path && routed(path, { provider, version });
    },
    described: customMetricPaths(version),
    schemas: customSchemas(version),
  });
  return { name: GROUP, versions: [versionOf('v1beta2'), versionOf('v1beta1')] };
}

interface MetricPath {
  /** For `namespaces/NAME/METRIC`, which the reference library accepts and then refuses. */
  readonly isNamespaceItself?: boolean;
  readonly namespace: string;
  readonly resource: string;
  readonly name: string;
  readonly metric: string;
}

/**
 * `namespaces/NS/metrics/METRIC` is a metric of the namespace itself; other paths are metrics of objects in it, or of
 * cluster-scoped ones.
 */
function pathOf(segments: readonly string[]): MetricPath | undefined {
  const [first, second = '', third, ...rest] = segments;
  if (first === undefined || third === undefined) return undefined;
  if (rest.length === 0) {
    const isNamespaceItself = first === 'namespaces';
    const path = { namespace: '', resource: first, name: second, metric: third, isNamespaceItself };
    return third === '' ? undefined : path;
  }
  if (first !== 'namespaces') return undefined;
  const [name = '', metric, ...more] = rest;
  if (metric === undefined) {
    return third === 'metrics' && name !== ''
      ? { namespace: '', resource: 'namespaces', name: second, metric: name }
      : undefined;
  }
  if (more.length > 0 || metric === '' || third === '' || third === 'metrics') return undefined;
  return { namespace: second, resource: third, name, metric };
}

function routed(
  { namespace, resource, name, metric, isNamespaceItself = false }: MetricPath,
  {
    provider,
    version,
  }: { readonly provider: CustomMetricsProvider; readonly version: 'v1beta1' | 'v1beta2' },
): RoutedDocument {
  return {
    read: ({ labelSelector, fieldSelector, parameters }) => {
      if (isNamespaceItself) throw badRequest('invalid request path');
      const isNameRequested =
        fieldSelector.requirements.length === 0 || fieldSelector.exactValue('metadata.name') === name;
      if (!isNameRequested) throw badRequest("fieldSelector metadata.name doesn't match requested name");
      const metricSelector = readMetricSelector(parameters.get('metricLabelSelector') ?? '');
      const isAll = ALL_NAMES.includes(name);
      const values = provider.values({
        ...{ resource, namespace, metric, labelSelector, metricSelector },
        name: isAll ? undefined : name,
      });
      if (!values) {
        const of = isAll ? resource : `${resource} ${name}`;
        throw noSuchMetric(metric, of, isAll ? '' : metricSelector.toString());
      }
      const selector = structuredSelector(metricSelector);
      return metricValueList({ apiVersion: `${GROUP}/${version}`, metric, selector, values });
    },
  };
}

/** @throws {StatusError} 500, as in the reference library, for an invalid one */
function readMetricSelector(text: string): LabelSelector {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    if (error instanceof SelectorError) throw new StatusError(500, '', error.message);
    throw error;
  }
}

function resourceOf({ resource, metric, isNamespaced }: DiscoveredMetric): DocumentResource {
  const name = { name: `${resource}/${metric}`, singularName: '', kind: 'MetricValueList', isNamespaced };
  return { type: 'document', ...name };
}
