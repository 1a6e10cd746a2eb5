import type { ExtraResources } from '#lib/resource-metrics/batch/extra-resources.ts';
import type {
  ContainerPoint,
  NodeAnswer,
  NodePoint,
  PodPoints,
} from '#lib/resource-metrics/batch/metrics-batch.ts';
import type { AnswerOrigin } from './answer-origin.ts';
import { type ContainerReport, completePod } from './complete-pod.ts';
import { IgnoredParts } from './ignored-parts.ts';
import { OtherNodesAnswer } from './other-nodes-answer.ts';
import { refuseHarmfulJson } from './refuse-harmful-json.ts';
import { containerExtras, nodeExtras } from './summary-extras.ts';

/** JSON that nobody has vouched for. */
type Unknown = Readonly<Record<string, unknown>> | undefined;

/**
 * Reads a kubelet's answer to `/stats/summary` (k8s.io/kubelet/pkg/apis/stats/v1alpha1 `Summary`).
 *
 * Kubelets write 0 for what they don't know, so a zero counter, working set or time counts as missing. A pod
 * without a name is left out, alone.
 *
 * @param extras what is to be read beside CPU and memory
 * @throws {OtherNodesAnswer} when it says that it is about another node than was asked
 * @throws when the text is not a JSON object, or would take too much memory as one, or when nothing of what it has
 * can be read
 */
export function decodeSummary(
  text: string,
  origin: AnswerOrigin,
  extras: ExtraResources = new Set(),
): NodeAnswer {
  const summary = asObject(parseJson(text));
  if (!summary) throw new Error('the answer is not a JSON object');
  if (!asObject(summary.node) && !Array.isArray(summary.pods)) {
    throw new Error('the answer is no summary: it has neither node nor pods');
  }
  const nodeName = nonEmpty(asObject(summary.node)?.nodeName);
  if (nodeName !== undefined && nodeName !== origin.nodeName) throw new OtherNodesAnswer(nodeName);
  const pods: PodPoints[] = [];
  const ignored = new IgnoredParts();
  for (const pod of asArray(summary.pods)) {
    const points = decodePod(asObject(pod), extras);
    if (points) pods.push(points);
    else ignored.note('a pod without name or namespace');
  }
  const node = decodeNode(asObject(summary.node), origin.nodeName, extras);
  const [firstIgnored] = ignored.held;
  if (!node && pods.length === 0 && firstIgnored !== undefined) {
    throw new Error(`the answer has no metrics, but ${firstIgnored}`);
  }
  return { ...origin, stampResolution: 'second', node, pods, ignored: ignored.held };
}

function parseJson(text: string): unknown {
  refuseHarmfulJson(text);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error('the answer is not valid JSON', { cause });
  }
}

function decodeNode(node: Unknown, name: string, extras: ExtraResources): NodePoint | undefined {
  const cpu = asObject(node?.cpu);
  const takenAtMs = timeMs(cpu?.time);
  const cpuCoreNanoseconds = positive(cpu?.usageCoreNanoSeconds);
  const memoryBytes = positive(asObject(node?.memory)?.workingSetBytes);
  if (takenAtMs === undefined || cpuCoreNanoseconds === undefined || memoryBytes === undefined)
    return undefined;
  return {
    name,
    startedAtMs: timeMs(node?.startTime),
    takenAtMs,
    cpuCoreNanoseconds,
    memoryBytes,
    cpuUsageNanocores: positive(cpu?.usageNanoCores),
    ...(extras.size > 0 && { extraBytes: nodeExtras(node, extras) }),
  };
}

function decodePod(pod: Unknown, extras: ExtraResources): PodPoints | undefined {
  const reference = asObject(pod?.podRef);
  const namespace = nonEmpty(reference?.namespace);
  const name = nonEmpty(reference?.name);
  if (namespace === undefined || name === undefined) return undefined;
  const reports: ContainerReport[] = [];
  for (const container of asArray(pod?.containers)) {
    const report = decodeContainer(asObject(container), extras);
    if (report) reports.push(report);
  }
  return { namespace, name, uid: nonEmpty(reference?.uid), ...completePod(reports) };
}

function decodeContainer(container: Unknown, extras: ExtraResources): ContainerReport | undefined {
  const name = nonEmpty(container?.name);
  if (name === undefined) return undefined;
  const cpu = asObject(container?.cpu);
  return {
    name,
    startedAtMs: timeMs(container?.startTime),
    takenAtMs: timeMs(cpu?.time),
    cpuCoreNanoseconds: positive(cpu?.usageCoreNanoSeconds),
    memoryBytes: positive(asObject(container?.memory)?.workingSetBytes),
    ...(extras.size > 0 && { extraBytes: containerExtras(container, extras) }),
  } satisfies { [Key in keyof ContainerPoint]: ContainerPoint[Key] | undefined };
}

function asObject(value: unknown): Unknown {
  return typeof value === 'object' && value !== null ? (value as Unknown) : undefined;
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function positive(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 && Number.isFinite(value) ? value : undefined;
}

/** An RFC 3339 time in milliseconds; Go's zero time, of the year 1, is none. */
function timeMs(value: unknown): number | undefined {
  return typeof value === 'string' ? positive(Date.parse(value)) : undefined;
}
