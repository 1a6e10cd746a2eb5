import { fieldAt, type KubernetesObject } from '../../objects/kubernetes-object.ts';
import {
  AGE,
  type Column,
  humanDuration,
  listAt,
  NAME,
  NONE,
  textAt,
  text as textColumn,
} from '../columns.ts';
import {
  type BuiltIn,
  builtIn,
  integer,
  integerOrText,
  keyed,
  kind,
  open,
  openKind,
  text,
  textMap,
} from './kind-builders.ts';
import { POD_SPEC } from './pod-template.ts';

const core = { group: '', version: 'v1' } as const;

const podSchema = kind('A collection of containers that run on one node.', {
  spec: POD_SPEC,
  status: open('The observed state.', {
    phase: text('Pending, Running, Succeeded, Failed or Unknown.'),
    conditions: keyed('Its conditions.', open('One condition.'), { keys: ['type'] }),
  }),
});

const serviceSchema = kind('A name and an address for a set of pods.', {
  spec: open('The desired state of the service.', {
    selector: { ...textMap('Labels of its pods.'), 'x-kubernetes-map-type': 'atomic' },
    type: text('ClusterIP, NodePort, LoadBalancer or ExternalName.', { default: 'ClusterIP' }),
    sessionAffinity: text('ClientIP or None.', { default: 'None' }),
    ports: keyed(
      'Ports that it exposes.',
      open('One port.', {
        name: text('Its name.'),
        port: integer('Its number.'),
        protocol: text('TCP, UDP or SCTP.', { default: 'TCP' }),
        targetPort: integerOrText('Number or name of the port of the pods.'),
      }),
      { keys: ['port', 'protocol'] },
    ),
  }),
  status: open('The observed state.', {}),
});

/** The core group, in the order of discovery. */
export const CORE: readonly BuiltIn[] = [
  builtIn({
    ...core,
    resource: 'configmaps',
    kind: 'ConfigMap',
    isNamespaced: true,
    shortNames: ['cm'],
    schema: openKind('Configuration data for pods.', {
      data: textMap('Text by key.'),
      binaryData: textMap('Bytes by key, as base64.'),
    }),
  }),
  builtIn({
    ...core,
    resource: 'events',
    kind: 'Event',
    isNamespaced: true,
    shortNames: ['ev'],
  }),
  builtIn({
    ...core,
    resource: 'namespaces',
    kind: 'Namespace',
    isNamespaced: false,
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
    shortNames: ['ns'],
    hasStatus: true,
    initialStatus: { phase: 'Active' },
    returnsDeletedObject: true,
    applyDefaults: (namespace) => ({
      ...namespace,
      metadata: {
        ...namespace.metadata,
        labels: { ...namespace.metadata.labels, 'kubernetes.io/metadata.name': namespace.metadata.name },
      },
      spec: namespace.spec ?? { finalizers: ['kubernetes'] },
    }),
  }),
  builtIn({
    ...core,
    resource: 'nodes',
    kind: 'Node',
    isNamespaced: false,
    shortNames: ['no'],
    hasStatus: true,
    takesInitialStatus: true,
  }),
  builtIn({
    ...core,
    resource: 'pods',
    kind: 'Pod',
    isNamespaced: true,
    shortNames: ['po'],
    categories: ['all'],
    hasStatus: true,
    hasGeneration: true,
    initialStatus: { phase: 'Pending', qosClass: 'BestEffort' },
    returnsDeletedObject: true,
    schema: podSchema,
  }),
  builtIn({
    ...core,
    resource: 'secrets',
    kind: 'Secret',
    isNamespaced: true,
    schema: openKind('Secret data for pods.', {
      data: textMap('Bytes by key, as base64.'),
      stringData: textMap('Text by key, when it is written.'),
    }),
    applyDefaults: ({ stringData, ...secret }) => ({
      type: 'Opaque',
      ...secret,
      ...(stringData === undefined
        ? {}
        : { data: { ...(secret.data as object | undefined), ...inBase64(stringData) } }),
    }),
  }),
  builtIn({
    ...core,
    resource: 'serviceaccounts',
    kind: 'ServiceAccount',
    isNamespaced: true,
    shortNames: ['sa'],
    returnsDeletedObject: true,
  }),
  builtIn({
    ...core,
    resource: 'services',
    kind: 'Service',
    isNamespaced: true,
    shortNames: ['svc'],
    categories: ['all'],
    hasStatus: true,
    returnsDeletedObject: true,
    initialStatus: { loadBalancer: {} },
    schema: serviceSchema,
  }),
];

function inBase64(texts: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries((texts ?? {}) as Readonly<Record<string, unknown>>);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, Buffer.from(String(value)).toString('base64')]),
  );
}

/** The columns of the core group, by resource. */
export const CORE_COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  nodes: [
    NAME,
    textColumn('Status', 'The status of the node', nodeStatus),
    textColumn('Roles', 'The roles of the node', nodeRoles),
    AGE,
    textColumn('Version', 'Kubelet Version reported by the node.', (node) =>
      nodeInfo(node, 'kubeletVersion'),
    ),
    textColumn('Internal-IP', 'Address within the cluster', (node) => addressOf(node, 'InternalIP'), 1),
    textColumn('External-IP', 'Address outside of the cluster', (node) => addressOf(node, 'ExternalIP'), 1),
    textColumn('OS-Image', 'OS Image reported by the node', (node) => nodeInfo(node, 'osImage'), 1),
    textColumn(
      'Kernel-Version',
      'Kernel Version reported by the node',
      (node) => nodeInfo(node, 'kernelVersion'),
      1,
    ),
    textColumn(
      'Container-Runtime',
      'ContainerRuntime Version reported by the node',
      (node) => nodeInfo(node, 'containerRuntimeVersion'),
      1,
    ),
  ],
  pods: [
    NAME,
    textColumn('Ready', 'The aggregate readiness state of this pod for accepting traffic.', podReadiness),
    textColumn('Status', 'The aggregate status of the containers in this pod.', (pod) =>
      textAt(pod, 'status', 'phase'),
    ),
    textColumn('Restarts', 'How often containers of this pod were restarted.', podRestarts),
    AGE,
    textColumn('IP', 'IP address allocated to the pod.', (pod) => textAt(pod, 'status', 'podIP') || NONE, 1),
    textColumn(
      'Node',
      'The node that this pod is scheduled onto.',
      (pod) => textAt(pod, 'spec', 'nodeName') || NONE,
      1,
    ),
    textColumn('Nominated Node', 'A node that pods are preempted on for this one.', () => NONE, 1),
    textColumn('Readiness Gates', 'Further conditions of readiness.', () => NONE, 1),
  ],
  namespaces: [
    NAME,
    textColumn('Status', 'The status of the namespace', (one) => textAt(one, 'status', 'phase')),
    AGE,
  ],
  configmaps: [
    NAME,
    {
      name: 'Data',
      type: 'integer',
      description: 'How many entries it has',
      priority: 0,
      cell: (map) => Object.keys((map.data as object | undefined) ?? {}).length,
    },
    AGE,
  ],
  events: [
    textColumn('Last Seen', 'When it last happened.', (one, nowMs) =>
      ageOf(one.lastTimestamp ?? one.eventTime ?? one.metadata.creationTimestamp, nowMs),
    ),
    textColumn('Type', 'Normal or Warning.', (one) => textAt(one, 'type')),
    textColumn('Reason', 'Why, in one word.', (one) => textAt(one, 'reason')),
    textColumn('Object', 'The object of the event.', (one) => {
      const about = one.involvedObject === undefined ? 'regarding' : 'involvedObject';
      return `${textAt(one, about, 'kind').toLowerCase()}/${textAt(one, about, 'name')}`;
    }),
    textColumn('Message', 'The description of the event.', (one) =>
      textAt(one, one.message === undefined ? 'note' : 'message'),
    ),
  ],
  services: [
    NAME,
    textColumn('Type', 'How it is reached.', (one) => textAt(one, 'spec', 'type')),
    textColumn(
      'Cluster-IP',
      'Its address in the cluster.',
      (one) => textAt(one, 'spec', 'clusterIP') || NONE,
    ),
    AGE,
  ],
  secrets: [
    NAME,
    textColumn('Type', 'The type of the secret.', (one) => textAt(one, 'type')),
    {
      name: 'Data',
      type: 'integer',
      description: 'How many entries it has',
      priority: 0,
      cell: (secret) => Object.keys((secret.data as object | undefined) ?? {}).length,
    },
    AGE,
  ],
};

function ageOf(timestamp: unknown, nowMs: number): string {
  const atMs = Date.parse(String(timestamp));
  return Number.isNaN(atMs) ? '<unknown>' : humanDuration(nowMs - atMs);
}

function nodeStatus(node: KubernetesObject): string {
  const ready = listAt(node, 'status', 'conditions').find(({ type }) => type === 'Ready');
  if (!ready) return 'Unknown';
  const status = ready.status === 'True' ? 'Ready' : 'NotReady';
  return fieldAt(node, 'spec', 'unschedulable') === true ? `${status},SchedulingDisabled` : status;
}

function nodeRoles({ metadata }: KubernetesObject): string {
  const prefix = 'node-role.kubernetes.io/';
  const roles = Object.keys(metadata.labels ?? {}).filter((label) => label.startsWith(prefix));
  return roles.map((label) => label.slice(prefix.length)).join(',') || NONE;
}

function nodeInfo(node: KubernetesObject, field: string): string {
  return textAt(node, 'status', 'nodeInfo', field);
}

function addressOf(node: KubernetesObject, type: string): string {
  const address = listAt(node, 'status', 'addresses').find((one) => one.type === type);
  return address ? String(address.address) : NONE;
}

function podReadiness(pod: KubernetesObject): string {
  const ready = listAt(pod, 'status', 'containerStatuses').filter((status) => status.ready === true);
  return `${ready.length}/${listAt(pod, 'spec', 'containers').length}`;
}

function podRestarts(pod: KubernetesObject): string {
  const counts = listAt(pod, 'status', 'containerStatuses').map((status) => Number(status.restartCount ?? 0));
  return String(counts.reduce((sum, count) => sum + count, 0));
}

/** Converts an Event of the core group to events.k8s.io. */
export function eventFromCore(stored: KubernetesObject): KubernetesObject {
  const {
    involvedObject,
    message,
    source,
    firstTimestamp,
    lastTimestamp,
    count,
    reportingComponent,
    ...rest
  } = stored;
  return {
    ...rest,
    apiVersion: 'events.k8s.io/v1',
    ...(stored.eventTime === undefined ? { eventTime: null } : {}),
    ...(reportingComponent === undefined ? {} : { reportingController: reportingComponent }),
    ...(involvedObject === undefined ? {} : { regarding: involvedObject }),
    ...(message === undefined ? {} : { note: message }),
    deprecatedSource: source ?? {},
    ...(firstTimestamp == null ? {} : { deprecatedFirstTimestamp: firstTimestamp }),
    ...(lastTimestamp == null ? {} : { deprecatedLastTimestamp: lastTimestamp }),
    ...(count === undefined ? {} : { deprecatedCount: count }),
  };
}

export function eventToCore(written: KubernetesObject): KubernetesObject {
  const {
    regarding,
    note,
    reportingController,
    deprecatedSource,
    deprecatedFirstTimestamp,
    deprecatedLastTimestamp,
    deprecatedCount,
    ...rest
  } = written;
  const namespace = fieldAt(written, 'metadata', 'namespace');
  return {
    ...rest,
    apiVersion: 'v1',
    involvedObject: regarding ?? { namespace },
    ...(note === undefined ? {} : { message: note }),
    source: deprecatedSource ?? {},
    firstTimestamp: deprecatedFirstTimestamp ?? null,
    lastTimestamp: deprecatedLastTimestamp ?? null,
    ...(deprecatedCount === undefined ? {} : { count: deprecatedCount }),
    reportingComponent: reportingController ?? '',
    reportingInstance: written.reportingInstance ?? '',
  };
}
