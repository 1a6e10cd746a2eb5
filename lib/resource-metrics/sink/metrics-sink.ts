import type { MetricsBatch } from '#lib/resource-metrics/metrics-batch.ts';
import type { Clock } from '#lib/time/clock.ts';
import { findRates, type LivePodUid, type NodeRecord, nextNodeRecord } from './node-record.ts';
import type { PodRecordUsage } from './pod-record.ts';
import { EMPTY_SNAPSHOT, type NodeUsage, type Snapshot } from './snapshot.ts';

interface MetricsSinkOptions extends StalenessLimits {
  readonly clock: Clock;
  readonly livePodUid: LivePodUid;
}

/**
 * Maximum time between two readings of a node: a longer average says too little about the present. Within it, a node
 * and its pods are served again after one response.
 */
const MAX_GAP_MS = 300_000;

const NO_RATES = { node: false, container: false };

/** Numbers of points in the snapshot. */
export interface StoragePoints {
  readonly node: number;
  readonly container: number;
}

/** Numbers of nodes and pods served from a response before a failed scrape. */
export interface StaleCounts {
  readonly node: number;
  readonly pod: number;
}

/** The record of a node, and whether it is recent enough to be served. */
export interface CachedNode {
  readonly record: NodeRecord;
  readonly isServed: boolean;
}

/** Computes usage from readings, and serves the last complete snapshot; readers never see a partial one. */
export class MetricsSink {
  readonly #options: MetricsSinkOptions;
  readonly #records = new Map<string, NodeRecord>();
  /** Records when the snapshot was published, updated by failures since; served until they expire. */
  #published = new Map<string, NodeRecord>();
  #snapshot: SinkSnapshot = EMPTY_SNAPSHOT;
  #nextExpiryMs = Number.POSITIVE_INFINITY;
  #cycleStartedAtMs: number;
  /** Whether a rate was found, of a node and of a container. */
  #hasRate = NO_RATES;
  #isReady = false;

  constructor(options: MetricsSinkOptions) {
    this.#options = options;
    this.#cycleStartedAtMs = options.clock.monotonicMs();
  }

  /**
   * Whether there are metrics to serve: there was a rate over two readings of a node and of a container, as
   * metrics-server v0.9 requires, and the metrics did not expire because cycles stopped, as while the process is suspended. After that, a ready server would serve an empty list until the
   * next scrapes. Failed scrapes do not affect it, so that failing kubelets do not remove the API from discovery.
   */
  get isReady(): boolean {
    return this.#isReady && !this.#isStalled();
  }

  /** The snapshot to serve now. */
  get snapshot(): Snapshot {
    return this.#current();
  }

  /** Of the current snapshot. */
  get storagePoints(): StoragePoints {
    const { nodes, pods } = this.#current();
    let container = 0;
    for (const namespace of pods.values())
      for (const pod of namespace.values()) container += pod.containerCount;
    return { node: nodes.size, container };
  }

  /** Of nodes whose last scrape failed. */
  get staleCounts(): StaleCounts {
    const counts = { node: 0, pod: 0 };
    const { nodes, pods } = this.#current();
    for (const [name, record] of this.#published) {
      if (!isStale(record)) continue;
      if (nodes.has(name)) counts.node++;
      for (const { usage } of record.pods.values()) {
        if (usage && pods.get(usage.namespace)?.get(usage.name) === usage) counts.pod++;
      }
    }
    return counts;
  }

  /** @returns `undefined` for a node without a response, or without one for long */
  cachedNode(nodeName: string): CachedNode | undefined {
    const record = this.#records.get(nodeName);
    return record && { record, isServed: this.#isServed(record) };
  }

  cachedNodeNames(): Iterable<string> {
    return this.#records.keys();
  }

  /** Starts a cycle, which following responses and failures belong to. */
  beginCycle(): void {
    this.#cycleStartedAtMs = this.#options.clock.monotonicMs();
  }

  /**
   * Records the response of a node, which is served after the next {@link publish}.
   *
   * @throws if it cannot be processed; the node's record is unchanged
   */
  receive(batch: MetricsBatch): void {
    const { nodeName } = batch;
    const cycle = { cycleStartedAtMs: this.#cycleStartedAtMs };
    try {
      const record = nextNodeRecord(this.#records.get(nodeName), batch, { ...this.#options, ...cycle });
      this.#records.set(nodeName, record);
      const { node, container } = this.#hasRate;
      if (!node || !container) {
        const found = findRates(record);
        this.#hasRate = { node: node || found.node, container: container || found.container };
      }
    } catch (cause) {
      throw new Error(`Cannot process the response of node "${nodeName}"`, { cause });
    }
  }

  /** Records a failed scrape in this cycle: the node's record is stale, and may be too old to be served. */
  recordFailure(nodeName: string): void {
    for (const records of [this.#records, this.#published]) {
      const record = records.get(nodeName);
      if (!record) continue;
      const failed = { ...record, failedInCycleMs: this.#cycleStartedAtMs };
      records.set(nodeName, failed);
      const isChanged = this.#isServed(record) !== this.#isServed(failed);
      if (isChanged) this.#nextExpiryMs = Number.NEGATIVE_INFINITY; // updates the snapshot for the next reader
    }
  }

  /** Removes records of nodes that are gone, and those too old to be served or compared with. */
  retain(isLive: (nodeName: string) => boolean): void {
    const oldestMs = this.#options.clock.monotonicMs() - MAX_GAP_MS;
    for (const [nodeName, record] of this.#records) {
      const isServed = this.#isServed(record);
      if (isLive(nodeName) && (isServed || record.response.receivedAtMs >= oldestMs)) continue;
      this.#records.delete(nodeName);
      this.#published.delete(nodeName);
      if (isServed) this.#nextExpiryMs = Number.NEGATIVE_INFINITY;
      // The last record expired without a failed scrape: the process was suspended, and is not ready, as at the
      // start.
      const hasExpired = isLive(nodeName) && Number.isFinite(servedUntilMs(record, this.#options));
      if (hasExpired && this.#records.size === 0) {
        this.#hasRate = NO_RATES;
        this.#isReady = false;
      }
    }
  }

  /** Publishes the current records; nodes without a new response retain the previous one. */
  publish(): void {
    this.#published = new Map(this.#records);
    this.#serve();
    this.#isReady = this.#hasRate.node && this.#hasRate.container;
  }

  #current(): SinkSnapshot {
    if (this.#options.clock.monotonicMs() >= this.#nextExpiryMs) this.#serve();
    return this.#snapshot;
  }

  /** Creates a snapshot of the published records that have not expired. */
  #serve(): void {
    const { clock, livePodUid } = this.#options;
    const served = new Map(this.#published.entries().filter(([, record]) => this.#isServed(record)));
    this.#nextExpiryMs = this.#findExpiry(served.values());
    const nowMs = clock.nowMs();
    this.#snapshot = {
      sequence: this.#snapshot.sequence + 1,
      publishedAtMs: nowMs,
      nodes: nodeUsages(served),
      pods: podUsages(served, { livePodUid, nowMs }),
    };
  }

  /** Whether nothing is served because cycles stopped, not because scrapes failed. */
  #isStalled(): boolean {
    const { nodes, pods } = this.snapshot;
    if (nodes.size > 0 || pods.size > 0) return false;
    const nowMs = this.#options.clock.monotonicMs();
    for (const record of this.#published.values()) {
      const untilMs = servedUntilMs(record, this.#options);
      if (Number.isFinite(untilMs) && untilMs <= nowMs) return true;
    }
    return false;
  }

  #isServed(record: NodeRecord): boolean {
    return this.#options.clock.monotonicMs() < servedUntilMs(record, this.#options);
  }

  /** @returns when the first record expires without further responses */
  #findExpiry(records: Iterable<NodeRecord>): number {
    let expiryMs = Number.POSITIVE_INFINITY;
    for (const record of records) expiryMs = Math.min(expiryMs, servedUntilMs(record, this.#options));
    return expiryMs;
  }
}

interface SinkSnapshot extends Snapshot {
  readonly pods: ReadonlyMap<string, ReadonlyMap<string, PodRecordUsage>>;
}

function nodeUsages(records: ReadonlyMap<string, NodeRecord>): Snapshot['nodes'] {
  const usages = new Map<string, NodeUsage>();
  for (const [name, { usage }] of records) if (usage) usages.set(name, usage);
  return usages;
}

/** Decides between two nodes that report the same pod. */
interface PodArbitration {
  readonly livePodUid: LivePodUid;
  /** Wall clock time. */
  readonly nowMs: number;
}

/** By namespace and name; a pod reported by two nodes is counted once. */
function podUsages(
  records: ReadonlyMap<string, NodeRecord>,
  arbitration: PodArbitration,
): SinkSnapshot['pods'] {
  const namespaces = new Map<string, Map<string, PodRecordUsage>>();
  for (const { pods } of records.values()) {
    for (const { usage } of pods.values()) {
      if (!usage) continue;
      const namespace = namespaces.get(usage.namespace) ?? new Map<string, PodRecordUsage>();
      if (namespace.size === 0) namespaces.set(usage.namespace, namespace);
      const other = namespace.get(usage.name);
      namespace.set(usage.name, other ? chooseReport(other, usage, arbitration) : usage);
    }
  }
  return namespaces;
}

/**
 * Chooses between two nodes' reports of one pod: first a report with the live pod's UID, which only its kubelet
 * knows; then one without a UID; last one of another pod. Equal reports are decided by the later timestamp that is
 * not in the future.
 */
function chooseReport(
  a: PodRecordUsage,
  b: PodRecordUsage,
  { livePodUid, nowMs }: PodArbitration,
): PodRecordUsage {
  const liveUid = livePodUid(a.key);
  const difference = rankReport(b, liveUid) - rankReport(a, liveUid);
  if (difference !== 0) return difference > 0 ? b : a;
  const isAhead = a.timestampMs > nowMs;
  if (isAhead !== b.timestampMs > nowMs) return isAhead ? b : a;
  return b.timestampMs > a.timestampMs ? b : a;
}

function rankReport({ uid, isUidReported }: PodRecordUsage, liveUid: string | undefined): number {
  const isOfAnother = liveUid !== undefined && uid !== undefined && uid !== liveUid;
  if (isOfAnother) return 0;
  return isUidReported ? 2 : 1;
}

interface StalenessLimits {
  readonly resolutionMs: number;
  /** Maximum age of a response that is served after a failed scrape; 0 to drop it at once. */
  readonly stalenessMs: number;
}

/** Start times of the cycles of a node's last response and failure. */
type NodeCycles = Pick<NodeRecord, 'respondedInCycleMs' | 'failedInCycleMs'>;

/**
 * A cycle starts within 1.5 resolutions of the previous one, or is late, and ends within another. A node without a
 * response or failure for this long is no longer scraped.
 */
const MAX_SILENT_RESOLUTIONS = 2.5;

/** Whether a scrape failed since the last response. */
export function isStale({ failedInCycleMs }: NodeCycles): boolean {
  return failedInCycleMs !== undefined;
}

/**
 * Computes until when the last good response of a node is served, on the monotonic clock.
 *
 * Its age is evaluated at each failed scrape: the time from the start of the cycle of the response to the start of
 * the cycle of the failure. One failure means one resolution, two mean two, regardless of the duration of requests.
 * Without failures, a response expires only when cycles stop.
 */
export function servedUntilMs(
  { respondedInCycleMs, failedInCycleMs }: NodeCycles,
  { resolutionMs, stalenessMs }: StalenessLimits,
): number {
  const silentMs = MAX_SILENT_RESOLUTIONS * resolutionMs;
  if (failedInCycleMs === undefined) return respondedInCycleMs + silentMs;
  const isTooOld = roundToSeconds(failedInCycleMs - respondedInCycleMs) >= stalenessMs;
  return isTooOld ? Number.NEGATIVE_INFINITY : failedInCycleMs + silentMs;
}

/** Compensates for cycles that start some milliseconds late. */
function roundToSeconds(durationMs: number): number {
  return Math.round(durationMs / 1000) * 1000;
}
