import { fieldAt, type KubernetesObject } from '../../objects/kubernetes-object.ts';
import { AGE, type Column, humanDuration, listAt, NAME, numberAt, text, textAt } from '../columns.ts';
import { isRecord } from '../schema.ts';

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
    text('Targets', hpaTargets),
    text('MinPods', (one) => String(fieldAt(one, 'spec', 'minReplicas') ?? '<unset>')),
    count('MaxPods', 'spec', 'maxReplicas'),
    count('Replicas', 'status', 'currentReplicas'),
    AGE,
  ],
  apiservices: [
    NAME,
    text('Service', (one) =>
      fieldAt(one, 'spec', 'service') === undefined
        ? 'Local'
        : `${textAt(one, 'spec', 'service', 'namespace')}/${textAt(one, 'spec', 'service', 'name')}`,
    ),
    text('Available', availabilityOf),
    AGE,
  ],
};

/** Metrics in the cell; the others are counted. */
const MAX_TARGETS = 2;

/** Current values and targets as `kubectl get hpa` prints them: `cpu: 41%/60%`, `12/10 (avg)`. */
function hpaTargets(hpa: KubernetesObject): string {
  const metrics = listAt(hpa, 'spec', 'metrics');
  if (metrics.length === 0) return '<none>';
  const statuses = listAt(hpa, 'status', 'currentMetrics');
  const shown = metrics.slice(0, MAX_TARGETS).map((metric, index) => targetOf(metric, statuses[index]));
  const more = metrics.length - shown.length;
  return shown.join(', ') + (more > 0 ? ` + ${more} more...` : '');
}

function targetOf(metric: Fields, status: Fields | undefined): string {
  const field = SOURCES.get(String(metric.type));
  if (field === undefined) return '<unknown type>';
  const { name, target } = fieldsOf(metric[field]);
  const { value, averageValue, averageUtilization } = fieldsOf(target);
  const current = fieldsOf(fieldsOf(status?.[field]).current);
  const unknown = '<unknown>';
  if (field === 'pods') return `${current.averageValue ?? unknown}/${averageValue}`;
  if (field === 'object' || field === 'external')
    return averageValue === undefined
      ? `${current.value ?? unknown}/${value}`
      : `${current.averageValue ?? unknown}/${averageValue} (avg)`;
  if (averageValue !== undefined) return `${name}: ${current.averageValue ?? unknown}/${averageValue}`;
  const percent = (part: unknown, absent: string) => (part === undefined ? absent : `${part}%`);
  return `${name}: ${percent(current.averageUtilization, unknown)}/${percent(averageUtilization, '<auto>')}`;
}

type Fields = Readonly<Record<string, unknown>>;

/** The field of a metric by its type. */
const SOURCES: ReadonlyMap<string, string> = new Map([
  ['Resource', 'resource'],
  ['ContainerResource', 'containerResource'],
  ['Pods', 'pods'],
  ['Object', 'object'],
  ['External', 'external'],
]);

function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** `True`, or the status with its reason: `False (MissingEndpoints)`. */
function availabilityOf(apiService: KubernetesObject): string {
  const condition = listAt(apiService, 'status', 'conditions').find(({ type }) => type === 'Available');
  if (!condition) return 'Unknown';
  const { status, reason } = condition;
  return status === 'True' || !reason ? String(status) : `${status} (${reason})`;
}

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
