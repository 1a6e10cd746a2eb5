import type {
  ContainerPoint,
  MetricsBatch,
  NodePoint,
  PodPoints,
  StampResolution,
} from '#lib/resource-metrics/metrics-batch.ts';
import { PackedHistories } from './packed-histories.ts';
import { PodRecord } from './pod-record.ts';
import type { NodeUsage } from './snapshot.ts';
import {
  isStuck,
  type MeasuredUsage,
  nextHistory,
  type ReadingContext,
  type UsageHistory,
} from './usage-history.ts';

/**
 * The UID of the pod that lives under a name now; `undefined` where that is not known.
 *
 * @param key `NAMESPACE/NAME`
 */
export type LivePodUid = (key: string) => string | undefined;

/** What a record is made with. */
export interface NodeRecordOptions {
  readonly resolutionMs: number;
  /** Of the cycle that brings the response, on our monotonic clock. */
  readonly cycleStartedAtMs: number;
  /** For pods whose UID the endpoint does not tell: they are those that live as the response comes in. */
  readonly livePodUid: LivePodUid;
}

/** What is held of one node since its last response. Immutable. */
export interface NodeRecord {
  /** When the response was asked for and when it had come in, on our monotonic clock. */
  readonly requestedAtMs: number;
  readonly receivedAtMs: number;
  readonly stampResolution: StampResolution;
  /** When the cycle began that brought the response, on our monotonic clock. */
  readonly respondedInCycleMs: number;
  /** When the latest cycle began that lost a scrape of the node since; `undefined` while none has. */
  readonly lostInCycleMs: number | undefined;
  readonly history: UsageHistory | undefined;
  readonly usage: NodeUsage | undefined;
  /** By `namespace/name`. */
  readonly pods: ReadonlyMap<string, PodRecord>;
  /** Of the containers of its pods. */
  readonly histories: PackedHistories;
}

/**
 * The kubelet's interval of sampling its node (`--housekeeping-interval`): what `usageNanoCores` of a node
 * averages over.
 */
const NODE_SAMPLING_INTERVAL_MS = 10_000;

/** So many of a pod are looked for one by one sooner than by a map. */
const FEW_CONTAINERS = 8;

/** The record of a node after one more response: what the response leaves out is gone. */
export function nextNodeRecord(
  previous: NodeRecord | undefined,
  batch: MetricsBatch,
  options: NodeRecordOptions,
): NodeRecord {
  const context: ReadingContext = {
    requestedAtMs: batch.requestedAtMs,
    receivedAtMs: batch.receivedAtMs,
    sincePreviousScrapeMs: sincePreviousScrape(previous, batch, options),
    // Where a kubelet is asked at its other endpoint from now on, the coarser stamps of the earlier readings count.
    stampResolution: previous?.stampResolution === 'second' ? 'second' : batch.stampResolution,
  };
  const history = batch.node && nextHistory(previous?.history, batch.node, context);
  return {
    requestedAtMs: batch.requestedAtMs,
    receivedAtMs: batch.receivedAtMs,
    stampResolution: batch.stampResolution,
    respondedInCycleMs: options.cycleStartedAtMs,
    lostInCycleMs: undefined,
    history,
    usage: nextNodeUsage(previous, history, batch),
    ...nextPods(previous, batch, { context, livePodUid: options.livePodUid }),
  };
}

/**
 * In which time what is new in a response must have started: none, in a first response of a clock that was set back, by which
 * what has run for hours may seem to have started just now.
 */
function sincePreviousScrape(
  previous: NodeRecord | undefined,
  { receivedAtMs, pods }: MetricsBatch,
  { resolutionMs }: NodeRecordOptions,
): number {
  if (previous) return receivedAtMs - previous.requestedAtMs;
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
  batch: MetricsBatch,
): NodeUsage | undefined {
  if (!batch.node || !history || isStuck(history, batch)) return undefined;
  if (history.readings === previous?.history?.readings) return previous.usage;
  return history.usage ?? sampledByKubelet(batch.node);
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

/** What is held of pods after a response, which reports some that are known and some that are not. */
function nextPods(
  previous: NodeRecord | undefined,
  batch: MetricsBatch,
  { context, livePodUid }: { readonly context: ReadingContext; readonly livePodUid: LivePodUid },
): Pick<NodeRecord, 'pods' | 'histories'> {
  const inOrder = previous?.pods.values();
  const unpacked: UsageHistory[] = [];
  const parts = batch.pods.map((points) => {
    const { containers, incompleteBecause } = points;
    const likely = inOrder?.next().value;
    const known = likely && hasNameOf(likely, points) ? likely : undefined;
    const key = known?.key ?? `${points.namespace}/${points.name}`;
    const toldUid = points.uid ?? livePodUid(key);
    const held = samePod(known ?? previous?.pods.get(key), toldUid);
    // Equal texts that are held already are held on: new ones would have to be kept, and the old ones collected.
    const { namespace, name } = held ?? points;
    const uid = held?.uid === toldUid ? held?.uid : toldUid;
    const firstRow = unpacked.length;
    const rows = containers.length > FEW_CONTAINERS ? held?.rowsByName() : undefined;
    containers.forEach((point, index) => {
      unpacked.push(nextHistory(held?.historyOf(point.name, index, rows), point, context));
    });
    const [containerCount, isUidTold] = [containers.length, points.uid !== undefined];
    return { key, namespace, name, uid, isUidTold, incompleteBecause, firstRow, containerCount };
  });
  const histories = new PackedHistories(unpacked, previous?.histories);
  return { histories, pods: new Map(parts.map((part) => [part.key, new PodRecord({ ...part, histories })])) };
}

/** Whether a record is of a pod of that name, as the next one is while pods come in the order of the response before. */
function hasNameOf(record: PodRecord, { namespace, name }: PodPoints): boolean {
  return record.name === name && record.namespace === namespace;
}

/** The record, unless it is of another pod that had the same name. */
function samePod(record: PodRecord | undefined, uid: string | undefined): PodRecord | undefined {
  const isOther = record?.uid !== undefined && uid !== undefined && record.uid !== uid;
  return isOther ? undefined : record;
}
