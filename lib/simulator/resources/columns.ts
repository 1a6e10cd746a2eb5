import type { Clock } from '#lib/time/clock.ts';
import { fieldAt, type KubernetesObject } from '../objects/kubernetes-object.ts';
import { formatSelector } from './label-selector-object.ts';

/** A column of a `meta.k8s.io` Table, as `kubectl get` prints it. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: number;
  cell(object: KubernetesObject, nowMs: number): string | number | boolean | null;
}

/** The columns that the real server has for a resource; name and age for what it has none for. */
export function columnsOf({
  resource,
  columns,
}: {
  readonly resource: string;
  readonly columns?: readonly Column[];
}): readonly Column[] {
  return columns ?? COLUMNS[resource] ?? [NAME, AGE];
}

/** The cells of one row. */
export function rowOf(columns: readonly Column[], object: KubernetesObject, clock: Clock) {
  return columns.map((column) => column.cell(object, clock.nowMs()));
}

const NONE = '<none>';

/** What every table begins with. */
export const NAME: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name must be unique within a namespace.',
  priority: 0,
  cell: ({ metadata }) => metadata.name,
};

/** How long ago an object was created. */
export const AGE: Column = {
  name: 'Age',
  type: 'string',
  description: 'CreationTimestamp is the server time when this object was created.',
  priority: 0,
  cell: ({ metadata }, nowMs) => humanDuration(nowMs - Date.parse(metadata.creationTimestamp)),
};

const text = (name: string, description: string, cell: Column['cell'], priority = 0): Column => ({
  name,
  type: 'string',
  description,
  priority,
  cell,
});

const count = (name: string, description: string, ...path: readonly string[]): Column => ({
  name,
  type: 'integer',
  description,
  priority: 0,
  cell: (object) => numberAt(object, ...path),
});

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  nodes: [
    NAME,
    text('Status', 'The status of the node', nodeStatus),
    text('Roles', 'The roles of the node', nodeRoles),
    AGE,
    text('Version', 'Kubelet Version reported by the node.', (node) => nodeInfo(node, 'kubeletVersion')),
    text('Internal-IP', 'Address within the cluster', (node) => addressOf(node, 'InternalIP'), 1),
    text('External-IP', 'Address outside of the cluster', (node) => addressOf(node, 'ExternalIP'), 1),
    text('OS-Image', 'OS Image reported by the node', (node) => nodeInfo(node, 'osImage'), 1),
    text(
      'Kernel-Version',
      'Kernel Version reported by the node',
      (node) => nodeInfo(node, 'kernelVersion'),
      1,
    ),
    text(
      'Container-Runtime',
      'ContainerRuntime Version reported by the node',
      (node) => nodeInfo(node, 'containerRuntimeVersion'),
      1,
    ),
  ],
  pods: [
    NAME,
    text('Ready', 'The aggregate readiness state of this pod for accepting traffic.', podReadiness),
    text('Status', 'The aggregate status of the containers in this pod.', (pod) =>
      textAt(pod, 'status', 'phase'),
    ),
    text('Restarts', 'How often containers of this pod were restarted.', podRestarts),
    AGE,
    text('IP', 'IP address allocated to the pod.', (pod) => textAt(pod, 'status', 'podIP') || NONE, 1),
    text(
      'Node',
      'The node that this pod is scheduled onto.',
      (pod) => textAt(pod, 'spec', 'nodeName') || NONE,
      1,
    ),
    text('Nominated Node', 'A node that pods are preempted on for this one.', () => NONE, 1),
    text('Readiness Gates', 'Further conditions of readiness.', () => NONE, 1),
  ],
  namespaces: [
    NAME,
    text('Status', 'The status of the namespace', (one) => textAt(one, 'status', 'phase')),
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
  deployments: [
    NAME,
    text(
      'Ready',
      'Number of the pod with ready state',
      (one) => `${numberAt(one, 'status', 'readyReplicas')}/${numberAt(one, 'spec', 'replicas')}`,
    ),
    text(
      'Up-to-date',
      'How many pods are of the present template.',
      (one) => textAt(one, 'status', 'updatedReplicas') || '0',
    ),
    text(
      'Available',
      'How many pods are available.',
      (one) => textAt(one, 'status', 'availableReplicas') || '0',
    ),
    AGE,
    text('Selector', 'What its pods are selected by.', selectorText, 1),
  ],
  replicasets: [
    NAME,
    count('Desired', 'How many pods there should be.', 'spec', 'replicas'),
    count('Current', 'How many pods there are.', 'status', 'replicas'),
    count('Ready', 'How many pods are ready.', 'status', 'readyReplicas'),
    AGE,
    text('Selector', 'What its pods are selected by.', selectorText, 1),
  ],
  statefulsets: [
    NAME,
    text(
      'Ready',
      'How many pods are ready, of how many.',
      (one) => `${numberAt(one, 'status', 'readyReplicas')}/${numberAt(one, 'spec', 'replicas')}`,
    ),
    AGE,
  ],
  jobs: [
    NAME,
    text('Status', 'Running, Complete, Failed or Suspended.', jobStatus),
    text(
      'Completions',
      'How many pods have succeeded, of how many.',
      (one) => `${numberAt(one, 'status', 'succeeded')}/${textAt(one, 'spec', 'completions') || '1'}`,
    ),
    AGE,
  ],
  horizontalpodautoscalers: [
    NAME,
    text(
      'Reference',
      'What it scales.',
      (one) =>
        `${textAt(one, 'spec', 'scaleTargetRef', 'kind')}/${textAt(one, 'spec', 'scaleTargetRef', 'name')}`,
    ),
    count('MinPods', 'The least number of pods.', 'spec', 'minReplicas'),
    count('MaxPods', 'The greatest number of pods.', 'spec', 'maxReplicas'),
    count('Replicas', 'How many pods there are.', 'status', 'currentReplicas'),
    AGE,
  ],
  leases: [NAME, text('Holder', 'Who holds it.', (one) => textAt(one, 'spec', 'holderIdentity')), AGE],
  events: [
    text('Last Seen', 'When it last happened.', (one, nowMs) =>
      ageOf(one.lastTimestamp ?? one.eventTime ?? one.metadata.creationTimestamp, nowMs),
    ),
    text('Type', 'Normal or Warning.', (one) => textAt(one, 'type')),
    text('Reason', 'Why, in one word.', (one) => textAt(one, 'reason')),
    text('Object', 'What it is about.', (one) => {
      const about = one.involvedObject === undefined ? 'regarding' : 'involvedObject';
      return `${textAt(one, about, 'kind').toLowerCase()}/${textAt(one, about, 'name')}`;
    }),
    text('Message', 'What happened.', (one) => textAt(one, one.message === undefined ? 'note' : 'message')),
  ],
  customresourcedefinitions: [
    NAME,
    { ...AGE, name: 'Created At', cell: ({ metadata }) => metadata.creationTimestamp },
  ],
  services: [
    NAME,
    text('Type', 'How it is reached.', (one) => textAt(one, 'spec', 'type')),
    text('Cluster-IP', 'Its address in the cluster.', (one) => textAt(one, 'spec', 'clusterIP') || NONE),
    AGE,
  ],
  secrets: [
    NAME,
    text('Type', 'What it is for.', (one) => textAt(one, 'type')),
    {
      name: 'Data',
      type: 'integer',
      description: 'How many entries it has',
      priority: 0,
      cell: (secret) => Object.keys((secret.data as object | undefined) ?? {}).length,
    },
    AGE,
  ],
  apiservices: [
    NAME,
    text('Service', 'The service that serves this API', (one) => {
      const name = textAt(one, 'spec', 'service', 'name');
      return name ? `${textAt(one, 'spec', 'service', 'namespace')}/${name}` : 'Local';
    }),
    text('Available', 'Whether this service is available', apiServiceAvailability),
    AGE,
  ],
};

function textAt(object: KubernetesObject, ...path: readonly string[]): string {
  const value = fieldAt(object, ...path);
  return value === undefined ? '' : String(value);
}

function listAt(object: KubernetesObject, ...path: readonly string[]): readonly Record<string, unknown>[] {
  const value = fieldAt(object, ...path);
  return Array.isArray(value) ? value : [];
}

function numberAt(object: KubernetesObject, ...path: readonly string[]): number {
  return Number(fieldAt(object, ...path) ?? 0);
}

function selectorText(object: KubernetesObject): string {
  return formatSelector(fieldAt(object, 'spec', 'selector')) || NONE;
}

function ageOf(timestamp: unknown, nowMs: number): string {
  const atMs = Date.parse(String(timestamp));
  return Number.isNaN(atMs) ? '<unknown>' : humanDuration(nowMs - atMs);
}

function jobStatus(job: KubernetesObject): string {
  const holds = (type: string) =>
    listAt(job, 'status', 'conditions').some((one) => one.type === type && one.status === 'True');
  if (holds('Complete')) return 'Complete';
  if (holds('Failed')) return 'Failed';
  return fieldAt(job, 'spec', 'suspend') === true ? 'Suspended' : 'Running';
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

function apiServiceAvailability(service: KubernetesObject): string {
  const available = listAt(service, 'status', 'conditions').find(({ type }) => type === 'Available');
  if (!available) return 'Unknown';
  return available.status === 'True' ? 'True' : `${available.status} (${available.reason})`;
}

/** An age as `duration.HumanDuration` of k8s.io/apimachinery writes it: two units at most, and only for small ones. */
export function humanDuration(durationMs: number): string {
  const seconds = Math.floor(durationMs / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return withRest(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return withRest(days, 'd', hours % 24, 'h');
  if (days < 365 * 2) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? withRest(years, 'y', days % 365, 'd') : `${years}y`;
}

function withRest(count: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${count}${unit}` : `${count}${unit}${rest}${restUnit}`;
}
