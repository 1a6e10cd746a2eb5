import type { KubernetesObject } from '../../objects/kubernetes-object.ts';
import { AGE, type Column, humanDuration, listAt, NAME, numberAt, text, textAt } from '../columns.ts';

/** The columns of a resource: those of its definition, or the most read ones of the real server, or name and age. */
export function columnsOf({
  resource,
  columns,
}: {
  readonly resource: string;
  readonly columns?: readonly Column[];
}): readonly Column[] {
  return columns ?? COLUMNS[resource] ?? [NAME, AGE];
}

/** A column of numbers; an absent number is 0. */
const count = (name: string, ...path: readonly string[]): Column => ({
  ...text(name, (one) => numberAt(one, ...path)),
  type: 'integer',
});

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  nodes: [
    NAME,
    text('Status', nodeStatus),
    AGE,
    text('Version', (node) => textAt(node, 'status', 'nodeInfo', 'kubeletVersion')),
  ],
  pods: [
    NAME,
    text('Ready', podReadiness),
    text('Status', (pod) => textAt(pod, 'status', 'phase')),
    text('Restarts', podRestarts),
    AGE,
  ],
  events: [
    text('Last Seen', (one, nowMs) =>
      ageOf(one.lastTimestamp ?? one.eventTime ?? one.metadata.creationTimestamp, nowMs),
    ),
    text('Type', (one) => textAt(one, 'type')),
    text('Reason', (one) => textAt(one, 'reason')),
    text('Object', (one) => {
      const about = one.involvedObject === undefined ? 'regarding' : 'involvedObject';
      return `${textAt(one, about, 'kind').toLowerCase()}/${textAt(one, about, 'name')}`;
    }),
    text('Message', (one) => textAt(one, one.message === undefined ? 'note' : 'message')),
  ],
  deployments: [
    NAME,
    text(
      'Ready',
      (one) => `${numberAt(one, 'status', 'readyReplicas')}/${numberAt(one, 'spec', 'replicas')}`,
    ),
    count('Up-to-date', 'status', 'updatedReplicas'),
    count('Available', 'status', 'availableReplicas'),
    AGE,
  ],
  horizontalpodautoscalers: [
    NAME,
    text(
      'Reference',
      (one) =>
        `${textAt(one, 'spec', 'scaleTargetRef', 'kind')}/${textAt(one, 'spec', 'scaleTargetRef', 'name')}`,
    ),
    count('MinPods', 'spec', 'minReplicas'),
    count('MaxPods', 'spec', 'maxReplicas'),
    count('Replicas', 'status', 'currentReplicas'),
    AGE,
  ],
};

function nodeStatus(node: KubernetesObject): string {
  const ready = listAt(node, 'status', 'conditions').find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? 'Ready' : 'NotReady';
}

function podReadiness(pod: KubernetesObject): string {
  const ready = listAt(pod, 'status', 'containerStatuses').filter((status) => status.ready === true);
  return `${ready.length}/${listAt(pod, 'spec', 'containers').length}`;
}

function podRestarts(pod: KubernetesObject): string {
  const counts = listAt(pod, 'status', 'containerStatuses').map((status) => Number(status.restartCount ?? 0));
  return String(counts.reduce((sum, restarts) => sum + restarts, 0));
}

function ageOf(timestamp: unknown, nowMs: number): string {
  const atMs = Date.parse(String(timestamp));
  return Number.isNaN(atMs) ? '<unknown>' : humanDuration(nowMs - atMs);
}
