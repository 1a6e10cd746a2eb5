import type {
  ContainerPoint,
  NodeAnswer,
  NodePoint,
  PodPoints,
  StampResolution,
} from '#lib/resource-metrics/batch/metrics-batch.ts';
import type { NodeUsage, PodUsage } from './snapshot.ts';
import {
  isStuck,
  type MeasuredUsage,
  nextHistory,
  type ReadingContext,
  type UsageHistory,
} from './usage-history.ts';

/** The UID of the pod that lives under a name now; `undefined` where that is not known. */
export type LivePodUid = (namespace: string, name: string) => string | undefined;

/** What a record is made with. */
export interface NodeRecordOptions {
  readonly resolutionMs: number;
  /** Of the cycle that brings the answer, on our monotonic clock. */
  readonly cycleStartedAtMs: number;
  /** For pods whose UID the endpoint does not tell: they are those that live as the answer comes in. */
  readonly livePodUid: LivePodUid;
}

/** What is held of one pod: the readings of its containers and the usage that they amount to. */
export interface PodRecord {
  /** `undefined` where neither the kubelet nor the API server told it. */
  readonly uid: string | undefined;
  /** Why the last answer told no usage of the whole pod. */
  readonly incompleteBecause: string | undefined;
  /** In the kubelet's order; no two have the same name. */
  readonly containers: readonly UsageHistory[];
  /** `undefined` until every container's usage is known. */
  readonly usage: PodUsage | undefined;
}

/** What is held of one node since its last answer. Immutable. */
export interface NodeRecord {
  /** When the answer was asked for and when it had come in, on our monotonic clock. */
  readonly askedAtMs: number;
  readonly receivedAtMs: number;
  readonly stampResolution: StampResolution;
  /** When the cycle began that brought the answer, on our monotonic clock. */
  readonly answeredInCycleMs: number;
  /** When the latest cycle began that lost a scrape of the node since; `undefined` while none has. */
  readonly lostInCycleMs: number | undefined;
  readonly history: UsageHistory | undefined;
  readonly usage: NodeUsage | undefined;
  /** By `namespace/name`. */
  readonly pods: ReadonlyMap<string, PodRecord>;
}

/**
 * The kubelet's interval of sampling its node (`--housekeeping-interval`): what `usageNanoCores` of a node
 * averages over.
 */
const NODE_SAMPLING_INTERVAL_MS = 10_000;

/** The record of a node after one more answer: what the answer leaves out is gone. */
export function nextNodeRecord(
  previous: NodeRecord | undefined,
  answer: NodeAnswer,
  options: NodeRecordOptions,
): NodeRecord {
  const context: ReadingContext = {
    askedAtMs: answer.askedAtMs,
    receivedAtMs: answer.receivedAtMs,
    sincePreviousScrapeMs: sincePreviousScrape(previous, answer, options),
    // Where a kubelet is asked at its other endpoint from now on, the coarser stamps of the earlier readings count.
    stampResolution: previous?.stampResolution === 'second' ? 'second' : answer.stampResolution,
  };
  const history = answer.node && nextHistory(previous?.history, answer.node, context);
  const pods = new Map<string, PodRecord>();
  for (const points of answer.pods) {
    const { namespace, name, uid } = points;
    const key = `${namespace}/${name}`;
    const identified = uid === undefined ? { ...points, uid: options.livePodUid(namespace, name) } : points;
    pods.set(key, nextPodRecord(previous?.pods.get(key), identified, context));
  }
  return {
    askedAtMs: answer.askedAtMs,
    receivedAtMs: answer.receivedAtMs,
    stampResolution: answer.stampResolution,
    answeredInCycleMs: options.cycleStartedAtMs,
    lostInCycleMs: undefined,
    history,
    usage: nextNodeUsage(previous, history, answer),
    pods,
  };
}

/**
 * In which time what is new in an answer must have started: none, in a first answer of a clock that was set back, by which
 * what has run for hours may seem to have started just now.
 */
function sincePreviousScrape(
  previous: NodeRecord | undefined,
  { receivedAtMs, pods }: NodeAnswer,
  { resolutionMs }: NodeRecordOptions,
): number {
  if (previous) return receivedAtMs - previous.askedAtMs;
  const startsInFuture = ({ startedAtMs, takenAtMs }: ContainerPoint) =>
    startedAtMs !== undefined && startedAtMs > takenAtMs;
  return pods.some(({ containers }) => containers.some(startsInFuture)) ? 0 : resolutionMs;
}

/** Whether anything of the node is known from two readings, as everything is to be from then on. */
export function holdsRate({ history, pods }: NodeRecord): boolean {
  const isRate = (held: UsageHistory | undefined) => held?.usage !== undefined && held.readings.length > 1;
  return isRate(history) || pods.values().some(({ containers }) => containers.some(isRate));
}

function nextNodeUsage(
  previous: NodeRecord | undefined,
  history: UsageHistory | undefined,
  answer: NodeAnswer,
): NodeUsage | undefined {
  if (!answer.node || !history || isStuck(history, answer)) return undefined;
  if (history.readings === previous?.history?.readings) return previous.usage;
  return history.usage ?? sampledByKubelet(answer.node);
}

/** A node read once is served at the rate that its kubelet measured itself, where it did. */
function sampledByKubelet(point: NodePoint): MeasuredUsage | undefined {
  if (point.cpuUsageNanocores === undefined) return undefined;
  return {
    name: point.name,
    timestampMs: point.takenAtMs,
    windowMs: NODE_SAMPLING_INTERVAL_MS,
    cpuNanocores: point.cpuUsageNanocores,
    memoryBytes: point.memoryBytes,
    ...(point.extraBytes && { extraBytes: point.extraBytes }),
  };
}

function nextPodRecord(
  previous: PodRecord | undefined,
  points: PodPoints,
  context: ReadingContext,
): PodRecord {
  const isSamePod = previous !== undefined && !uidsDiffer(previous.uid, points.uid);
  const containers = points.containers.map((point, index) => {
    const held = isSamePod ? historyOf(previous.containers, point.name, index) : undefined;
    return nextHistory(held, point, context);
  });
  const isUnchanged =
    isSamePod &&
    previous.uid === points.uid &&
    previous.incompleteBecause === points.incompleteBecause &&
    sameHistories(previous.containers, containers);
  return {
    uid: points.uid,
    incompleteBecause: points.incompleteBecause,
    containers,
    usage: isUnchanged ? previous.usage : podUsage(points, containers),
  };
}

function uidsDiffer(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b;
}

/** Of containers that mostly come in the same order. */
function historyOf(
  histories: readonly UsageHistory[],
  name: string,
  likelyIndex: number,
): UsageHistory | undefined {
  const likely = histories[likelyIndex];
  return likely?.name === name ? likely : histories.find((history) => history.name === name);
}

function sameHistories(a: readonly UsageHistory[], b: readonly UsageHistory[]): boolean {
  return a.length === b.length && b.every((history) => a.includes(history));
}

function podUsage(points: PodPoints, histories: readonly UsageHistory[]): PodUsage | undefined {
  if (points.incompleteBecause !== undefined) return undefined;
  let earliest: MeasuredUsage | undefined;
  const containers = [];
  for (const { usage } of histories) {
    if (!usage) return undefined;
    if (!earliest || usage.timestampMs < earliest.timestampMs) earliest = usage;
    containers.push(usage);
  }
  if (!earliest) return undefined;
  const { namespace, name, uid } = points;
  return {
    namespace,
    name,
    uid,
    timestampMs: earliest.timestampMs,
    windowMs: earliest.windowMs,
    containers,
  };
}
