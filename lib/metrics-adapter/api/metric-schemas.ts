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

/** The names of the schemas of what is served. */
const METRIC_SCHEMA = {
  v1beta1: `${CUSTOM}.v1beta1.MetricValueList`,
  v1beta2: `${CUSTOM}.v1beta2.MetricValueList`,
  external: `${EXTERNAL}.ExternalMetricValueList`,
} as const;

const ATOMIC = { 'x-kubernetes-list-type': 'atomic' };
const SELECTOR = reference(LABEL_SELECTOR, 'By which labels of the metric it was asked for.');
const WINDOW = wholeNumber('Over how many seconds before the timestamp the value was reckoned.');
const VALUE: Schemas = {
  timestamp: reference(META_SCHEMA.time, 'When the value was measured.'),
  value: reference(META_SCHEMA.quantity, 'How much it is.'),
};

const SHARED: Schemas = {
  [OBJECT_REFERENCE]: objectOf('Which object is meant.', {
    properties: {
      apiVersion: text('The API group and version of the object.'),
      fieldPath: text('A part of the object; not set here.'),
      kind: text('What the object is.'),
      name: text('Its name.'),
      namespace: text('Its namespace; empty for what has none.'),
      resourceVersion: text('Not set here.'),
      uid: text('Not set here.'),
    },
    extensions: { 'x-kubernetes-map-type': 'atomic' },
  }),
  [LABEL_SELECTOR]: objectOf('Selects by labels; all of its parts must hold.', {
    properties: {
      matchExpressions: listOf('Requirements of labels.', reference(REQUIREMENT, undefined, {}), ATOMIC),
      matchLabels: mapOf('Labels and the values that they must have.', ANY_TEXT),
    },
    extensions: { 'x-kubernetes-map-type': 'atomic' },
  }),
  [REQUIREMENT]: objectOf('A requirement of a label.', {
    required: ['key', 'operator'],
    properties: {
      key: text('The name of the label.'),
      operator: text('How it is related to the values: In, NotIn, Exists or DoesNotExist.'),
      values: listOf('The values; none for Exists and DoesNotExist.', ANY_TEXT, ATOMIC),
    },
  }),
};

/** Of a version of custom metrics. */
export function customSchemas(version: 'v1beta1' | 'v1beta2'): Schemas {
  const type = { group: 'custom.metrics.k8s.io', version };
  const [value, identifier] = [`${CUSTOM}.${version}.MetricValue`, `${CUSTOM}.${version}.MetricIdentifier`];
  const describedObject = reference(OBJECT_REFERENCE, 'Whose value it is.', {});
  const isFirst = version === 'v1beta1';
  const fields: Schemas = isFirst
    ? { metricName: text('The name of the metric.'), selector: SELECTOR, window: WINDOW }
    : { metric: reference(identifier, 'Which metric it is.', {}), windowSeconds: WINDOW };
  return {
    ...SHARED,
    ...(isFirst
      ? {}
      : {
          [identifier]: objectOf('Which metric is meant.', {
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

/** Of external metrics. */
export const EXTERNAL_SCHEMAS: Schemas = {
  [`${EXTERNAL}.ExternalMetricValue`]: objectOf('The value of a metric that belongs to no object.', {
    required: ['metricName', 'metricLabels', 'timestamp', 'value'],
    properties: sorted({
      ...{ ...TYPE_META, ...VALUE, window: WINDOW },
      metricLabels: mapOf('The labels that tell this value of the metric from others.', ANY_TEXT),
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
  const metadata = reference(META_SCHEMA.listMeta, 'What the list says of itself.', {});
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
