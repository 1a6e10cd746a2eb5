import type { MetricsBatch } from '#lib/resource-metrics/metrics-batch.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type HeldSnapshot, nodeUsages, podUsages } from './held-snapshot.ts';
import { holdsRate, type LivePodUid, type NodeRecord, nextNodeRecord } from './node-record.ts';
import { EMPTY_SNAPSHOT, type Snapshot } from './snapshot.ts';
import { isStale, type StalenessLimits, servedUntilMs } from './staleness.ts';

/** What the sink needs from outside. */
export interface MetricsSinkOptions extends StalenessLimits {
  readonly clock: Clock;
  readonly livePodUid: LivePodUid;
}

/**
 * Readings of a node that was lost for longer are not compared with: the average over such a gap says too little of now.
 * Within it, a node and its pods are served again as soon as they respond once.
 */
export const LONGEST_GAP_MS = 300_000;

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
