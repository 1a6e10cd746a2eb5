import type { MetricsBatch } from '#lib/resource-metrics/metrics-batch.ts';
import type { Clock } from '#lib/time/clock.ts';
import { holdsRate, type LivePodUid, type NodeRecord, nextNodeRecord } from './node-record.ts';
import type { HeldUsage } from './pod-record.ts';
import { EMPTY_SNAPSHOT, type NodeUsage, type Snapshot } from './snapshot.ts';

/** What the sink needs from outside. */
interface MetricsSinkOptions extends StalenessLimits {
  readonly clock: Clock;
  readonly livePodUid: LivePodUid;
}

/**
 * Readings of a node that was lost for longer are not compared with: the average over such a gap says too little of now.
 * Within it, a node and its pods are served again as soon as they respond once.
 */
const LONGEST_GAP_MS = 300_000;

/** How many points are held for serving. */
export interface StoragePoints {
  readonly node: number;
  readonly container: number;
}

/** How many nodes and pods are served from before a lost scrape. */
export interface StaleCounts {
  readonly node: number;
  readonly pod: number;
}

/** What is held of one node, and whether it is fresh enough to be served. */
export interface HeldNode {
  readonly record: NodeRecord;
  readonly isServed: boolean;
}

/** Turns readings into usage and serves the latest complete snapshot; readers never see half of one. */
export class MetricsSink {
  readonly #options: MetricsSinkOptions;
  /** What is held of each node. */
  readonly #records = new Map<string, NodeRecord>();
  /** What was held when the snapshot was published, but for the losses since: served until it expires. */
  #published = new Map<string, NodeRecord>();
  #snapshot: HeldSnapshot = EMPTY_SNAPSHOT;
  #nextExpiryMs = Number.POSITIVE_INFINITY;
  #cycleStartedAtMs: number;
  #holdsRate = false;
  #isReady = false;

  constructor(options: MetricsSinkOptions) {
    this.#options = options;
    this.#cycleStartedAtMs = options.clock.monotonicMs();
  }

  /**
   * Whether users find metrics here: a rate over two readings was held once, and what is held has not gone too old
   * because cycles stopped, as while the process stands still. Until kubelets have been asked again, a server that was ready
   * would serve an empty list. Scrapes that are lost take nothing from it: discovery must not go because scraping does.
   */
  get isReady(): boolean {
    return this.#isReady && !this.#hasGoneSilent();
  }

  /** What is to be served now. */
  get snapshot(): Snapshot {
    return this.#current();
  }

  /** How many points the current snapshot holds. */
  get storagePoints(): StoragePoints {
    const { nodes, pods } = this.#current();
    let container = 0;
    for (const namespace of pods.values())
      for (const pod of namespace.values()) container += pod.containerCount;
    return { node: nodes.size, container };
  }

  /** How much is served of nodes whose last scrape was lost. */
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

  /** What is held of a node; `undefined` where it has not responded, or not for long. */
  held(nodeName: string): HeldNode | undefined {
    const record = this.#records.get(nodeName);
    return record && { record, isServed: this.#isServed(record) };
  }

  /** The nodes of which something is held. */
  heldNodeNames(): Iterable<string> {
    return this.#records.keys();
  }

  /** Notes that a cycle begins: responses and losses that follow are of this one. */
  beginCycle(): void {
    this.#cycleStartedAtMs = this.#options.clock.monotonicMs();
  }

  /**
   * Takes in one node's response, which is served from the next {@link publish} on.
   *
   * @throws when it cannot be taken in; the node keeps what it has
   */
  receive(batch: MetricsBatch): void {
    const { nodeName } = batch;
    const cycle = { cycleStartedAtMs: this.#cycleStartedAtMs };
    try {
      const record = nextNodeRecord(this.#records.get(nodeName), batch, { ...this.#options, ...cycle });
      this.#records.set(nodeName, record);
      this.#holdsRate ||= holdsRate(record);
    } catch (cause) {
      throw new Error(`Cannot take in the response of node "${nodeName}"`, { cause });
    }
  }

  /** Notes that a node failed to respond in this cycle: what is held of it is stale, and may be too old by now. */
  lose(nodeName: string): void {
    for (const records of [this.#records, this.#published]) {
      const record = records.get(nodeName);
      if (!record) continue;
      const lost = { ...record, lostInCycleMs: this.#cycleStartedAtMs };
      records.set(nodeName, lost);
      const isChanged = this.#isServed(record) !== this.#isServed(lost);
      if (isChanged) this.#nextExpiryMs = Number.NEGATIVE_INFINITY; // the next reader finds it gone, or back
    }
  }

  /** Drops what is held of nodes that are gone, and what is neither served nor young enough to compare with. */
  retain(isLive: (nodeName: string) => boolean): void {
    const oldestMs = this.#options.clock.monotonicMs() - LONGEST_GAP_MS;
    for (const [nodeName, record] of this.#records) {
      const isServed = this.#isServed(record);
      if (isLive(nodeName) && (isServed || record.receivedAtMs >= oldestMs)) continue;
      this.#records.delete(nodeName);
      this.#published.delete(nodeName);
      if (isServed) this.#nextExpiryMs = Number.NEGATIVE_INFINITY;
      // As at the start, when nothing is held but what was never lost for too long: the process stood still.
      const isForgotten = isLive(nodeName) && Number.isFinite(servedUntilMs(record, this.#options));
      if (isForgotten && this.#records.size === 0) this.#holdsRate = this.#isReady = false;
    }
  }

  /** Serves what was received so far; nodes without a response keep what they have. */
  publish(): void {
    this.#published = new Map(this.#records);
    this.#serve();
    this.#isReady = this.#holdsRate;
  }

  #current(): HeldSnapshot {
    if (this.#options.clock.monotonicMs() >= this.#nextExpiryMs) this.#serve();
    return this.#snapshot;
  }

  /** Makes a snapshot of what is published and has not expired. */
  #serve(): void {
    const { clock, livePodUid } = this.#options;
    const served = new Map(this.#published.entries().filter(([, record]) => this.#isServed(record)));
    this.#nextExpiryMs = this.#expiryOf(served.values());
    const nowMs = clock.nowMs();
    this.#snapshot = {
      sequence: this.#snapshot.sequence + 1,
      publishedAtMs: nowMs,
      nodes: nodeUsages(served),
      pods: podUsages(served, { livePodUid, nowMs }),
    };
  }

  /** Whether nothing is served, though a node was neither lost for too long nor heard of since cycles stopped. */
  #hasGoneSilent(): boolean {
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

  /** When the first of these is served no longer, if nothing is heard of it. */
  #expiryOf(records: Iterable<NodeRecord>): number {
    let expiryMs = Number.POSITIVE_INFINITY;
    for (const record of records) expiryMs = Math.min(expiryMs, servedUntilMs(record, this.#options));
    return expiryMs;
  }
}

/** A snapshot as the sink knows it. */
interface HeldSnapshot extends Snapshot {
  readonly pods: ReadonlyMap<string, ReadonlyMap<string, HeldUsage>>;
}

/** What nodes use, by their names. */
function nodeUsages(records: ReadonlyMap<string, NodeRecord>): Snapshot['nodes'] {
  const usages = new Map<string, NodeUsage>();
  for (const [name, { usage }] of records) if (usage) usages.set(name, usage);
  return usages;
}

/** What decides between two nodes that report one pod. */
interface PodArbitration {
  readonly livePodUid: LivePodUid;
  /** By our wall clock. */
  readonly nowMs: number;
}

/** What pods use, by their namespaces and names; one that two nodes report counts once. */
function podUsages(
  records: ReadonlyMap<string, NodeRecord>,
  arbitration: PodArbitration,
): HeldSnapshot['pods'] {
  const namespaces = new Map<string, Map<string, HeldUsage>>();
  for (const { pods } of records.values()) {
    for (const { usage } of pods.values()) {
      if (!usage) continue;
      const namespace = namespaces.get(usage.namespace) ?? new Map<string, HeldUsage>();
      if (namespace.size === 0) namespaces.set(usage.namespace, namespace);
      const other = namespace.get(usage.name);
      namespace.set(usage.name, other ? likelierOf(other, usage, arbitration) : usage);
    }
  }
  return namespaces;
}

/**
 * Of two nodes' reports on one pod, that of the node which itself told the live pod's UID: only kubelets that run a pod know it. A word
 * without a UID comes next, and one on another pod last. Where that decides nothing, the later counts, unless it is of the future.
 */
function likelierOf(a: HeldUsage, b: HeldUsage, { livePodUid, nowMs }: PodArbitration): HeldUsage {
  const liveUid = livePodUid(a.key);
  const difference = evidenceOf(b, liveUid) - evidenceOf(a, liveUid);
  if (difference !== 0) return difference > 0 ? b : a;
  const isAhead = a.timestampMs > nowMs;
  if (isAhead !== b.timestampMs > nowMs) return isAhead ? b : a;
  return b.timestampMs > a.timestampMs ? b : a;
}

function evidenceOf({ uid, isUidTold }: HeldUsage, liveUid: string | undefined): number {
  const isOfAnother = liveUid !== undefined && uid !== undefined && uid !== liveUid;
  if (isOfAnother) return 0;
  return isUidTold ? 2 : 1;
}

/** What tells how long the last good response of a node is served. */
interface StalenessLimits {
  readonly resolutionMs: number;
  /** How old a response may be when a scrape of its node is lost, and still be served; 0 for not at all. */
  readonly stalenessMs: number;
}

/** In which cycles a node responded and was lost, by when they began. */
type NodeCycles = Pick<NodeRecord, 'respondedInCycleMs' | 'lostInCycleMs'>;

/**
 * A cycle begins within one and a half resolutions of the one before, or is late, and ends within another. A node that
 * has neither responded nor been lost for so long is not scraped any more.
 */
const SILENT_RESOLUTIONS = 2.5;

/** Whether a scrape was lost since the node responded. */
export function isStale({ lostInCycleMs }: NodeCycles): boolean {
  return lostInCycleMs !== undefined;
}

/**
 * Until when the last good response of a node is served, on our monotonic clock.
 *
 * Its age is judged once a cycle, when a scrape is lost: it is the time from the start of the cycle that brought the response
 * to the start of the one that lost the scrape. So one lost scrape makes one resolution and two make two, however long
 * the kubelet takes to respond or to fail. Between losses nothing expires, unless cycles stop altogether.
 */
export function servedUntilMs(
  { respondedInCycleMs, lostInCycleMs }: NodeCycles,
  { resolutionMs, stalenessMs }: StalenessLimits,
): number {
  const silentMs = SILENT_RESOLUTIONS * resolutionMs;
  if (lostInCycleMs === undefined) return respondedInCycleMs + silentMs;
  const isTooOld = inWholeSeconds(lostInCycleMs - respondedInCycleMs) >= stalenessMs;
  return isTooOld ? Number.NEGATIVE_INFINITY : lostInCycleMs + silentMs;
}

/** Cycles begin some milliseconds late: twice the resolution is to be as much, and no less. */
function inWholeSeconds(durationMs: number): number {
  return Math.round(durationMs / 1000) * 1000;
}
