import { pathParameter, queryParameter } from '#lib/apiserver/encoding/schema.ts';
import { NAMESPACE } from '#lib/apiserver/openapi/operations.ts';
import type { DescribedPath } from '#lib/apiserver/resources/api-group.ts';
import { METRIC_SCHEMA } from './metric-schemas.ts';

const RESOURCE = pathParameter('resource', 'The resource of the objects, as in pods or deployments.apps.');
const SUBRESOURCE = pathParameter('subresource', 'The name of the metric.');
const METRIC_SELECTOR = queryParameter(
  'metricLabelSelector',
  'string',
  'Which metrics of the name are meant, by their labels.',
);

/** Where the values of custom metrics are. */
export function customMetricPaths(version: 'v1beta1' | 'v1beta2'): readonly DescribedPath[] {
  const description = 'Tell the values of a metric of an object, or of those that a selector selects.';
  const common = { description, schema: METRIC_SCHEMA[version] };
  const name = () => pathParameter('name', 'The name of an object, or * for all that are selected.');
  const ofObjects = () => [name(), RESOURCE, SUBRESOURCE, METRIC_SELECTOR];
  return [
    {
      ...{ ...common, path: 'namespaces/{namespace}/metrics/{name}' },
      id: ['read', 'MetricValueForNamespace'],
      parameters: [pathParameter('name', 'The name of the metric.'), NAMESPACE, METRIC_SELECTOR],
    },
    {
      ...{ ...common, path: 'namespaces/{namespace}/{resource}/{name}/{subresource}' },
      id: ['list', 'NamespacedMetricValue'],
      parameters: [NAMESPACE, ...ofObjects()],
    },
    {
      ...{ ...common, path: '{resource}/{name}/{subresource}' },
      id: ['list', 'MetricValue'],
      parameters: ofObjects(),
    },
  ];
}

/** Where the values of external metrics are. */
export const EXTERNAL_METRIC_PATHS: readonly DescribedPath[] = [
  {
    path: 'namespaces/{namespace}/{resource}',
    id: ['list', 'ExternalMetricValue'],
    description: 'Tell the values of a metric that a selector selects.',
    schema: METRIC_SCHEMA.external,
    // Kubernetes describes the metric as the resource, and a name that is in no path.
    parameters: [NAMESPACE, pathParameter('name', 'Not in the path: the metric stands for the resource.')],
  },
];
