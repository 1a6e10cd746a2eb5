import {
  kindExtension,
  listOf,
  mapOf,
  objectOf,
  reference,
  type Schema,
  type Schemas,
  TYPE_META,
  text,
} from '#lib/apiserver/objects/schema.ts';
import { META_SCHEMA } from '#lib/apiserver/openapi/meta-schemas.ts';
import { METRICS_GROUP } from './metrics-source.ts';

const PACKAGE = 'io.k8s.metrics.pkg.apis.metrics.v1beta1';

/** The names of the schemas of what is served. */
export const METRICS_SCHEMA = {
  container: `${PACKAGE}.ContainerMetrics`,
  node: `${PACKAGE}.NodeMetrics`,
  nodeList: `${PACKAGE}.NodeMetricsList`,
  pod: `${PACKAGE}.PodMetrics`,
  podList: `${PACKAGE}.PodMetricsList`,
} as const;

const metadata = reference(META_SCHEMA.objectMeta, 'What the object says of itself.', {});
const timestamp = reference(META_SCHEMA.time, 'The end of the time that the values cover.', {});
const window = reference(META_SCHEMA.duration, 'How long the CPU usage is averaged over.', 0);
const usage = mapOf(
  'What is used: cpu on average over the window, memory as the working set at its end.',
  reference(META_SCHEMA.quantity, undefined, {}),
);

/** What is served, as `kubectl explain` tells it. */
export const METRICS_SCHEMAS: Schemas = {
  [METRICS_SCHEMA.container]: objectOf('What a container uses.', {
    required: ['name', 'usage'],
    properties: { name: text('The name of the container, as in the specification of its pod.'), usage },
  }),
  [METRICS_SCHEMA.node]: objectOf('What a node uses.', {
    required: ['timestamp', 'window', 'usage'],
    properties: { ...TYPE_META, metadata, timestamp, usage, window },
    extensions: extension('NodeMetrics'),
  }),
  [METRICS_SCHEMA.nodeList]: listSchema('NodeMetrics', METRICS_SCHEMA.node),
  [METRICS_SCHEMA.pod]: objectOf('What a pod uses.', {
    required: ['timestamp', 'window', 'containers'],
    properties: {
      ...TYPE_META,
      containers: listOf(
        'What each of its containers uses, all at nearly the same moment.',
        reference(METRICS_SCHEMA.container, undefined, {}),
        { 'x-kubernetes-list-type': 'atomic' },
      ),
      metadata,
      timestamp,
      window,
    },
    extensions: extension('PodMetrics'),
  }),
  [METRICS_SCHEMA.podList]: listSchema('PodMetrics', METRICS_SCHEMA.pod),
};

function listSchema(kind: string, item: string): Schema {
  return objectOf(`A list of ${kind}.`, {
    required: ['items'],
    properties: {
      ...TYPE_META,
      items: listOf('By namespace and name.', reference(item, undefined, {})),
      metadata: reference(META_SCHEMA.listMeta, 'What the list says of itself.', {}),
    },
    extensions: extension(`${kind}List`),
  });
}

function extension(kind: string): Schema {
  return kindExtension({ group: METRICS_GROUP, version: 'v1beta1', kind });
}
