import { NAMESPACE } from '#lib/apiserver/discovery/operations.ts';
import {
  ANY_TEXT,
  kindExtension,
  listOf,
  META_SCHEMA,
  mapOf,
  objectOf,
  pathParameter,
  queryParameter,
  reference,
  type Schema,
  type Schemas,
  TYPE_META,
  text,
  wholeNumber,
} from '#lib/apiserver/encoding/schema.ts';
import type { DescribedPath } from '#lib/apiserver/resources/api-group.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const LABEL_SELECTOR = `${META}.LabelSelector`;
const REQUIREMENT = `${META}.LabelSelectorRequirement`;
const OBJECT_REFERENCE = 'io.k8s.api.core.v1.ObjectReference';
const CUSTOM = 'io.k8s.metrics.pkg.apis.custom_metrics';
const EXTERNAL = 'io.k8s.metrics.pkg.apis.external_metrics.v1beta1';

const METRIC_SCHEMA = {
  v1beta1: `${CUSTOM}.v1beta1.MetricValueList`,
  v1beta2: `${CUSTOM}.v1beta2.MetricValueList`,
  external: `${EXTERNAL}.ExternalMetricValueList`,
} as const;

const ATOMIC = { 'x-kubernetes-list-type': 'atomic' };
const SELECTOR = reference(LABEL_SELECTOR, 'The label selector of the metric.');
const WINDOW = wholeNumber('Length of the window that the value covers, in seconds before the timestamp.');
const VALUE: Schemas = {
  timestamp: reference(META_SCHEMA.time, 'The time of the measurement.'),
  value: reference(META_SCHEMA.quantity, 'The value of the metric.'),
};

const SHARED: Schemas = {
  [OBJECT_REFERENCE]: objectOf('A reference to an object.', {
    properties: {
      apiVersion: text('The API group and version of the object.'),
      fieldPath: text('A part of the object. Not set here.'),
      kind: text('The kind of the object.'),
      name: text('The name of the object.'),
      namespace: text('The namespace of the object; empty for cluster-scoped ones.'),
      resourceVersion: text('Not set here.'),
      uid: text('Not set here.'),
    },
    extensions: { 'x-kubernetes-map-type': 'atomic' },
  }),
  [LABEL_SELECTOR]: objectOf('A label selector. All requirements must be satisfied.', {
    properties: {
      matchExpressions: listOf('Requirements for labels.', reference(REQUIREMENT, undefined, {}), ATOMIC),
      matchLabels: mapOf('Required values by label.', ANY_TEXT),
    },
    extensions: { 'x-kubernetes-map-type': 'atomic' },
  }),
  [REQUIREMENT]: objectOf('A requirement for a label.', {
    required: ['key', 'operator'],
    properties: {
      key: text('The key of the label.'),
      operator: text('The operator: In, NotIn, Exists or DoesNotExist.'),
      values: listOf('The values; empty for Exists and DoesNotExist.', ANY_TEXT, ATOMIC),
    },
  }),
};

/** Schemas of a version of custom metrics. */
export function customSchemas(version: 'v1beta1' | 'v1beta2'): Schemas {
  const type = { group: 'custom.metrics.k8s.io', version };
  const [value, identifier] = [`${CUSTOM}.${version}.MetricValue`, `${CUSTOM}.${version}.MetricIdentifier`];
  const describedObject = reference(OBJECT_REFERENCE, 'The object that the value describes.', {});
  const isFirst = version === 'v1beta1';
  const fields: Schemas = isFirst
    ? { metricName: text('The name of the metric.'), selector: SELECTOR, window: WINDOW }
    : { metric: reference(identifier, 'The identity of the metric.', {}), windowSeconds: WINDOW };
  return {
    ...SHARED,
    ...(isFirst
      ? {}
      : {
          [identifier]: objectOf('The identity of a metric.', {
            required: ['name'],
            properties: { name: text('The name of the metric.'), selector: SELECTOR },
          }),
        }),
    [value]: objectOf('The value of a metric of an object.', {
      required: ['describedObject', isFirst ? 'metricName' : 'metric', 'timestamp', 'value'],
      properties: sorted({ ...TYPE_META, ...VALUE, ...fields, describedObject }),
      extensions: kindExtension({ ...type, kind: 'MetricValue' }),
    }),
    [METRIC_SCHEMA[version]]: listSchema('Values of a metric of objects.', {
      items: listOf('One for each object.', reference(value, undefined, {})),
      extensions: kindExtension({ ...type, kind: 'MetricValueList' }),
    }),
  };
}

const EXTERNAL_GROUP = { group: 'external.metrics.k8s.io', version: 'v1beta1' };

/** Schemas of external metrics. */
export const EXTERNAL_SCHEMAS: Schemas = {
  [`${EXTERNAL}.ExternalMetricValue`]: objectOf('The value of a metric that belongs to no object.', {
    required: ['metricName', 'metricLabels', 'timestamp', 'value'],
    properties: sorted({
      ...{ ...TYPE_META, ...VALUE, window: WINDOW },
      metricLabels: mapOf('The labels that identify this value of the metric.', ANY_TEXT),
      metricName: text('The name of the metric.'),
    }),
    extensions: kindExtension({ ...EXTERNAL_GROUP, kind: 'ExternalMetricValue' }),
  }),
  [METRIC_SCHEMA.external]: listSchema('Values of a metric that belongs to no object.', {
    items: listOf('One for each set of labels.', reference(`${EXTERNAL}.ExternalMetricValue`, undefined, {})),
    extensions: kindExtension({ ...EXTERNAL_GROUP, kind: 'ExternalMetricValueList' }),
  }),
};

function listSchema(
  description: string,
  { items, extensions }: { readonly items: Schema; readonly extensions: Schema },
): Schema {
  const metadata = reference(META_SCHEMA.listMeta, 'Metadata of the list.', {});
  return objectOf(description, {
    required: ['items'],
    properties: sorted({ ...TYPE_META, items, metadata }),
    extensions,
  });
}

function sorted(properties: Schemas): Schemas {
  return Object.fromEntries(Object.entries(properties).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const RESOURCE = pathParameter('resource', 'The resource of the objects, as in pods or deployments.apps.');
const SUBRESOURCE = pathParameter('subresource', 'The name of the metric.');
const METRIC_SELECTOR = queryParameter(
  'metricLabelSelector',
  'string',
  'Selects metrics of this name by their labels.',
);

/** Paths of the values of custom metrics. */
export function customMetricPaths(version: 'v1beta1' | 'v1beta2'): readonly DescribedPath[] {
  const description = 'Get the values of a metric of an object, or of selected objects.';
  const common = { description, schema: METRIC_SCHEMA[version] };
  const name = () => pathParameter('name', 'The name of an object, or * for all selected objects.');
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

/** Paths of the values of external metrics. */
export const EXTERNAL_METRIC_PATHS: readonly DescribedPath[] = [
  {
    path: 'namespaces/{namespace}/{resource}',
    id: ['list', 'ExternalMetricValue'],
    description: 'Get the selected values of a metric.',
    schema: METRIC_SCHEMA.external,
    // Kubernetes describes the metric as the resource, with a name that is not in the path.
    parameters: [
      NAMESPACE,
      pathParameter(
        'name',
        'Has no effect: in the path, the name of the metric takes the place of the resource.',
      ),
    ],
  },
];
