import type { MetricsBatch, MetricsPoint, PodPoints } from '#lib/resource-metrics/metrics-batch.ts';
import { PackedHistories } from './packed-histories.ts';
import { PodRecord } from './pod-record.ts';
import { describeResponse, type ReadingResponse } from './reading-response.ts';
import type { MeasuredUsage, NodeUsage } from './snapshot.ts';
import { isStuck, minWindow, nextHistory, type ReadingContext, type UsageHistory } from './usage-history.ts';

/**
 * @param key `NAMESPACE/NAME`
 * @returns the UID of the live pod; `undefined` if there is none in the cache
 */
export type LivePodUid = (key: string) => string | undefined;

export interface NodeRecordOptions {
  readonly resolutionMs: number;
  /** Start of the cycle of the response, on the monotonic clock. */
  readonly cycleStartedAtMs: number;
  /** For endpoints that do not report UIDs. */
  readonly livePodUid: LivePodUid;
}

/** The state of one node after its last response. Immutable. */
export interface NodeRecord {
  readonly response: ReadingResponse;
  /** Minimum time between two readings of a rate. */
  readonly minWindowMs: number;
  /** Start of the cycle of the response, on the monotonic clock. */
  readonly respondedInCycleMs: number;
  /** Start of the last cycle in which a scrape failed since; `undefined` if none has. */
  readonly failedInCycleMs: number | undefined;
  readonly history: UsageHistory | undefined;
  readonly usage: NodeUsage | undefined;
  /** By `namespace/name`. */
  readonly pods: ReadonlyMap<string, PodRecord>;
  /** Of the containers of its pods. */
  readonly histories: PackedHistories;
}

/**
 * The kubelet's sampling interval of its node (`--housekeeping-interval`), over which `usageNanoCores` is averaged.
 */
const NODE_SAMPLING_INTERVAL_MS = 10_000;

/** Up to this number, a linear search is faster than a map. */
const FEW_CONTAINERS = 8;

/** Creates the record after a response; nodes and pods missing from it are removed. */
export function nextNodeRecord(
  previous: NodeRecord | undefined,
  batch: MetricsBatch,
  options: NodeRecordOptions,
): NodeRecord {
  const response = describeResponse(previous?.response, batch);
  const minWindowMs = minWindow(options.resolutionMs);
  const context: ReadingContext = {
    response,
    minWindowMs,
    sincePreviousScrapeMs: sincePreviousScrape(previous, batch, options),
  };
  const history = batch.node && nextHistory(previous?.history, batch.node, { ...context, isCached: true });
  return {
    response,
    minWindowMs,
    respondedInCycleMs: options.cycleStartedAtMs,
    failedInCycleMs: undefined,
    history,
    usage: nextNodeUsage(previous, history, batch),
    ...nextPods(previous, batch, { context, livePodUid: options.livePodUid }),
  };
}

/**
 * Period in which containers that are new in a response must have started: 0 for a first response of a clock that was
 * set back, by which old containers seem to have just started.
 */
function sincePreviousScrape(
  previous: NodeRecord | undefined,
  { receivedAtMs, pods }: MetricsBatch,
  { resolutionMs }: NodeRecordOptions,
): number {
  if (previous) return receivedAtMs - previous.response.requestedAtMs;
  const startsInFuture = ({ startedAtMs, takenAtMs }: MetricsPoint) =>
    startedAtMs !== undefined && startedAtMs > takenAtMs;
  return pods.some(({ containers }) => containers.some(startsInFuture)) ? 0 : resolutionMs;
}

/** Whether usage is based on two readings: that of the node, and that of any of its containers. */
export function findRates({ history, pods }: NodeRecord): {
  readonly node: boolean;
  readonly container: boolean;
} {
  const isRate = (one: UsageHistory | undefined) => one?.usage !== undefined && one.readings.length > 1;
  return {
    node: isRate(history),
    container: pods.values().some(({ containers }) => containers.some(isRate)),
  };
}

function nextNodeUsage(
  previous: NodeRecord | undefined,
  history: UsageHistory | undefined,
  batch: MetricsBatch,
): NodeUsage | undefined {
  if (!batch.node || !history || isStuck(history, batch.receivedAtMs)) return undefined;
  if (history.readings === previous?.history?.readings) return previous.usage;
  return history.usage ?? usageByKubelet(batch.node);
}

/** After the first reading of a node, the rate measured by the kubelet is served, if it reports one. */
function usageByKubelet(point: MetricsPoint): MeasuredUsage | undefined {
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

/** Updates the pods by a response. */
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
    const expected = likely && hasName(likely, points) ? likely : undefined;
    const key = expected?.key ?? `${points.namespace}/${points.name}`;
    const liveUid = points.uid ?? livePodUid(key);
    const record = samePod(expected ?? previous?.pods.get(key), liveUid);
    // Reuses the strings of the record, which are in the old generation already.
    const { namespace, name } = record ?? points;
    const uid = record?.uid === liveUid ? record?.uid : liveUid;
    const firstRow = unpacked.length;
    const rows = containers.length > FEW_CONTAINERS ? record?.rowsByName() : undefined;
    containers.forEach((point, index) => {
      unpacked.push(nextHistory(record?.historyOf(point.name, index, rows), point, context));
    });
    const [containerCount, isUidReported] = [containers.length, points.uid !== undefined];
    return { key, namespace, name, uid, isUidReported, incompleteBecause, firstRow, containerCount };
  });
  const histories = new PackedHistories(unpacked, previous?.histories);
  return { histories, pods: new Map(parts.map((part) => [part.key, new PodRecord({ ...part, histories })])) };
}

/** Pods usually have the same order in consecutive responses. */
function hasName(record: PodRecord, { namespace, name }: PodPoints): boolean {
  return record.name === name && record.namespace === namespace;
}

/** @returns `undefined` for the record of a previous pod with the same name */
function samePod(record: PodRecord | undefined, uid: string | undefined): PodRecord | undefined {
  const isOther = record?.uid !== undefined && uid !== undefined && record.uid !== uid;
  return isOther ? undefined : record;
}
