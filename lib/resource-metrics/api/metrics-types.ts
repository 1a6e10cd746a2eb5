import { field, type MessageField, MessageType } from '#lib/apiserver/objects/message-type.ts';
import {
  kindExtension,
  listOf,
  META_SCHEMA,
  objectOf,
  reference,
  type Schema,
  type Schemas,
  TYPE_META,
} from '#lib/apiserver/objects/schema.ts';
import { manyOf, TEXT, TIME } from '#lib/apiserver/objects/value-types.ts';
import type { ContainerUsage, NodeUsage, PodUsage } from '#lib/resource-metrics/sink/snapshot.ts';
import { METRICS_GROUP } from './metrics-source.ts';
import { DURATION, RESOURCE_LIST, type Usage, type UsageSpan } from './usage-types.ts';

const PACKAGE = 'io.k8s.metrics.pkg.apis.metrics.v1beta1';

/** The names of the schemas of what is served. */
export const METRICS_SCHEMA = {
  container: `${PACKAGE}.ContainerMetrics`,
  node: `${PACKAGE}.NodeMetrics`,
  nodeList: `${PACKAGE}.NodeMetricsList`,
  pod: `${PACKAGE}.PodMetrics`,
  podList: `${PACKAGE}.PodMetricsList`,
} as const;

const timestamp: MessageField<UsageSpan> = field(TIME, {
  number: 2,
  description: 'The end of the time that the values cover.',
  of: ({ timestampMs }) => timestampMs,
});
const window: MessageField<UsageSpan> = field(DURATION, {
  number: 3,
  description: 'How long the CPU usage is averaged over.',
  of: ({ windowMs }) => windowMs,
});
const usage = (number: number): MessageField<Usage> =>
  field(RESOURCE_LIST, {
    number,
    description: 'What is used: cpu on average over the window, memory as the working set at its end.',
    of: (used: Usage) => used,
  });

const CONTAINER_METRICS = new MessageType<ContainerUsage>({
  name: METRICS_SCHEMA.container,
  description: 'What a container uses.',
  fields: {
    name: field(TEXT, {
      number: 1,
      description: 'The name of the container, as in the specification of its pod.',
      of: ({ name }) => name,
    }),
    usage: usage(2),
  },
});

/** What a NodeMetrics has behind its metadata. */
export const NODE_METRICS = new MessageType<NodeUsage>({
  name: METRICS_SCHEMA.node,
  description: 'What a node uses.',
  fields: { timestamp, window, usage: usage(4) },
  ...ofKind('NodeMetrics'),
});

/** What a PodMetrics has behind its metadata. */
export const POD_METRICS = new MessageType<PodUsage>({
  name: METRICS_SCHEMA.pod,
  description: 'What a pod uses.',
  fields: {
    timestamp,
    window,
    containers: field(manyOf(CONTAINER_METRICS, { 'x-kubernetes-list-type': 'atomic' }), {
      number: 4,
      description: 'What each of its containers uses, all at nearly the same moment.',
      of: ({ containers }) => containers,
    }),
  },
  ...ofKind('PodMetrics'),
});

/** What is served, as `kubectl explain` tells it. */
export const METRICS_SCHEMAS: Schemas = {
  ...CONTAINER_METRICS.definition,
  ...NODE_METRICS.definition,
  [METRICS_SCHEMA.nodeList]: listSchema('NodeMetrics', METRICS_SCHEMA.node),
  ...POD_METRICS.definition,
  [METRICS_SCHEMA.podList]: listSchema('PodMetrics', METRICS_SCHEMA.pod),
};

function ofKind(kind: string): { readonly properties: Schemas; readonly extensions: Schema } {
  const metadata = reference(META_SCHEMA.objectMeta, 'What the object says of itself.', {});
  return { properties: { ...TYPE_META, metadata }, extensions: extension(kind) };
}

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
