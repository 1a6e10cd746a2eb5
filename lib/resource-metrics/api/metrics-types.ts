import { goJson, type JsonObject } from '#lib/apiserver/encoding/json.ts';
import { field, type MessageField, MessageType } from '#lib/apiserver/encoding/message-type.ts';
import type { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import {
  kindExtension,
  listOf,
  META_SCHEMA,
  mapOf,
  objectOf,
  reference,
  type Schema,
  type Schemas,
  TYPE_META,
} from '#lib/apiserver/encoding/schema.ts';
import { manyOf, TEXT, TIME, type ValueType } from '#lib/apiserver/encoding/value-types.ts';
import type { TableColumn } from '#lib/apiserver/resources/api-group.ts';
import type { ServedObject } from '#lib/apiserver/resources/served-object.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { formatCpuNanocores, formatMemoryBytes } from '#lib/kubernetes/quantity.ts';
import type { LiveNodes } from '#lib/resource-metrics/nodes/node-cache.ts';
import type { LivePods } from '#lib/resource-metrics/nodes/pod-cache.ts';
import type { ContainerUsage, NodeUsage, PodUsage, Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';
import { formatDuration } from '#lib/time/duration.ts';

const PACKAGE = 'io.k8s.metrics.pkg.apis.metrics.v1beta1';

export const METRICS_SCHEMA = {
  container: `${PACKAGE}.ContainerMetrics`,
  node: `${PACKAGE}.NodeMetrics`,
  nodeList: `${PACKAGE}.NodeMetricsList`,
  pod: `${PACKAGE}.PodMetrics`,
  podList: `${PACKAGE}.PodMetricsList`,
} as const;

const timestamp: MessageField<UsageSpan> = field(TIME, {
  number: 2,
  description: 'End of the interval that the values cover.',
  of: ({ timestampMs }) => timestampMs,
});

/** Milliseconds as `metav1.Duration`. */
const DURATION: ValueType<number> = {
  json: formatDuration,
  text: (durationMs) => `"${formatDuration(durationMs)}"`,
  write: (message, number, durationMs) =>
    message.message(number, () => message.uint(1, Math.round(durationMs * 1e6))),
  schema: (description) => reference(META_SCHEMA.duration, description, 0),
  item: reference(META_SCHEMA.duration, undefined, 0),
};

const window: MessageField<UsageSpan> = field(DURATION, {
  number: 3,
  description: 'Length of the interval over which CPU usage is averaged.',
  of: ({ windowMs }) => windowMs,
});
const usage = (number: number): MessageField<Usage> =>
  field(RESOURCE_LIST, {
    number,
    description:
      'Usage of resources: cpu as the average over the window, memory as the working set at its end.',
    of: (used: Usage) => used,
  });

/** Encodes a usage as `ResourceList`: quantities by resource name, a map in protobuf. */
export const RESOURCE_LIST: ValueType<Usage> = {
  json: (usage) => {
    if (usage.extraBytes) return Object.fromEntries(formatQuantities(usage)) as JsonObject;
    return { cpu: formatCpuNanocores(usage.cpuNanocores), memory: formatMemoryBytes(usage.memoryBytes) };
  },
  text: (usage) => {
    if (usage.extraBytes) return goJson(RESOURCE_LIST.json(usage));
    const { cpuNanocores, memoryBytes } = usage;
    return `{"cpu":"${formatCpuNanocores(cpuNanocores)}","memory":"${formatMemoryBytes(memoryBytes)}"}`;
  },
  write: (message, number, usage) => {
    for (const [name, quantity] of formatQuantities(usage))
      writeQuantity(message, number, { name, quantity });
  },
  schema: (description) => mapOf(description, reference(META_SCHEMA.quantity, undefined, {})),
  item: reference(META_SCHEMA.quantity, undefined, {}),
};

const CONTAINER_METRICS = new MessageType<ContainerUsage>({
  name: METRICS_SCHEMA.container,
  description: 'Resource usage of a container.',
  fields: {
    name: field(TEXT, {
      number: 1,
      description: 'Name of the container in the pod spec.',
      of: ({ name }) => name,
    }),
    usage: usage(2),
  },
});

/** The API group of `kubectl top` and autoscalers. */
export const METRICS_GROUP = 'metrics.k8s.io';

/** Fields of NodeMetrics after its metadata. */
export const NODE_METRICS = new MessageType<NodeUsage>({
  name: METRICS_SCHEMA.node,
  description: 'Resource usage of a node.',
  fields: { timestamp, window, usage: usage(4) },
  ...ofKind('NodeMetrics'),
});

/** Fields of PodMetrics after its metadata. */
export const POD_METRICS = new MessageType<PodUsage>({
  name: METRICS_SCHEMA.pod,
  description: 'Resource usage of a pod.',
  fields: {
    timestamp,
    window,
    containers: field(manyOf(CONTAINER_METRICS, { 'x-kubernetes-list-type': 'atomic' }), {
      number: 4,
      description: 'Resource usage of the containers of the pod, sampled at nearly the same time.',
      of: ({ containers }) => containers,
    }),
  },
  ...ofKind('PodMetrics'),
});

/** OpenAPI schemas, as shown by `kubectl explain`. */
export const METRICS_SCHEMAS: Schemas = {
  ...CONTAINER_METRICS.definition,
  ...NODE_METRICS.definition,
  [METRICS_SCHEMA.nodeList]: listSchema('NodeMetrics', METRICS_SCHEMA.node),
  ...POD_METRICS.definition,
  [METRICS_SCHEMA.podList]: listSchema('PodMetrics', METRICS_SCHEMA.pod),
};

function ofKind(kind: string): { readonly properties: Schemas; readonly extensions: Schema } {
  const metadata = reference(META_SCHEMA.objectMeta, 'Standard metadata of the object.', {});
  return { properties: { ...TYPE_META, metadata }, extensions: extension(kind) };
}

function listSchema(kind: string, item: string): Schema {
  return objectOf(`A list of ${kind}.`, {
    required: ['items'],
    properties: {
      ...TYPE_META,
      items: listOf('Items, sorted by namespace and name.', reference(item, undefined, {})),
      metadata: reference(META_SCHEMA.listMeta, 'Standard metadata of the list.', {}),
    },
    extensions: extension(`${kind}List`),
  });
}

function extension(kind: string): Schema {
  return kindExtension({ group: METRICS_GROUP, version: 'v1beta1', kind });
}

export interface Usage {
  readonly cpuNanocores: number;
  readonly memoryBytes: number;
  /** Bytes by name of the extra resource. */
  readonly extraBytes?: Readonly<Record<string, number>> | undefined;
}

/** The interval of a usage. */
export interface UsageSpan {
  readonly timestampMs: number;
  readonly windowMs: number;
}

/** Sorted by name, as maps are encoded. */
function formatQuantities({ cpuNanocores, memoryBytes, extraBytes }: Usage): readonly [string, string][] {
  const quantities: [string, string][] = [
    ['cpu', formatCpuNanocores(cpuNanocores)],
    ['memory', formatMemoryBytes(memoryBytes)],
  ];
  if (!extraBytes) return quantities;
  for (const [name, bytes] of Object.entries(extraBytes)) quantities.push([name, formatMemoryBytes(bytes)]);
  return quantities.sort(([a], [b]) => (a < b ? -1 : 1));
}

function writeQuantity(
  message: ProtobufWriter,
  number: number,
  entry: { readonly name: string; readonly quantity: string },
): void {
  message.message(number, () => {
    message.string(1, entry.name);
    message.message(2, () => message.string(1, entry.quantity));
  });
}

/**
 * Columns of metrics in `kubectl get`.
 *
 * @param usageOf returns the total usage of an object
 * @param extraResources additional columns; missing values are printed as unknown
 */
export function usageColumns<Metrics extends ServedObject & { readonly usage: UsageSpan }>(
  usageOf: (metrics: Metrics) => Usage,
  extraResources: readonly string[] = [],
): readonly TableColumn<Metrics>[] {
  const quantity = { type: 'string', format: 'quantity', description: '', priority: 0 };
  const extraColumns = extraResources.map((name) => ({
    name,
    ...quantity,
    cell: (metrics: Metrics) => {
      const bytes = getOwn(usageOf(metrics).extraBytes, name);
      return bytes === undefined ? '<unknown>' : formatMemoryBytes(bytes);
    },
  }));
  const resources: TableColumn<Metrics>[] = [
    { name: 'cpu', ...quantity, cell: (metrics) => formatCpuNanocores(usageOf(metrics).cpuNanocores) },
    { name: 'memory', ...quantity, cell: (metrics) => formatMemoryBytes(usageOf(metrics).memoryBytes) },
    ...extraColumns,
  ];
  return [
    {
      name: 'Name',
      type: 'string',
      format: 'name',
      description: 'Name of the resource',
      priority: 0,
      cell: ({ name }) => name,
    },
    ...resources.sort((a, b) => (a.name < b.name ? -1 : 1)),
    { name: 'Window', ...quantity, format: 'duration', cell: ({ usage }) => formatDuration(usage.windowMs) },
  ];
}

export interface MetricsSource {
  /** The snapshot to serve now. */
  snapshot(): Snapshot;
  readonly nodes: LiveNodes;
  readonly pods: LivePods;
  /** Resources with additional columns. */
  readonly extraResources?: readonly string[];
}
