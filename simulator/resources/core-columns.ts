import { fieldAt, type KubernetesObject } from '../objects/kubernetes-object.ts';
import { AGE, type Column, listAt, NAME, NONE, text, textAt } from './column.ts';
import { humanDuration } from './human-duration.ts';

/** The columns of the core group, by resource. */
export const CORE_COLUMNS: Readonly<Record<string, readonly Column[]>> = {
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
