import type { MetricsBatch, NodeAnswer } from '#lib/resource-metrics/batch/metrics-batch.ts';
import type { Clock } from '#lib/time/clock.ts';
import { holdsRate, type LivePodUid, type NodeRecord, nextNodeRecord } from './node-record.ts';
import { EMPTY_SNAPSHOT, type PodUsage, type Snapshot } from './snapshot.ts';
import { isStale, type StalenessLimits, servedUntilMs } from './staleness.ts';

/** What the sink needs from outside. */
export interface MetricsSinkOptions extends StalenessLimits {
  readonly clock: Clock;
  readonly livePodUid: LivePodUid;
}

/**
 * Readings of a node that was lost for longer are not compared with: the average over such a gap says too little of now.
 * Within it, a node and its pods are served again as soon as they answer once.
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

/** Turns readings into usage and answers from the latest complete snapshot; readers never see half of one. */
export class MetricsSink {
  readonly #options: MetricsSinkOptions;
  readonly #records = new Map<string, NodeRecord>();
  #snapshot: Snapshot = EMPTY_SNAPSHOT;
  #nextExpiryMs = Number.POSITIVE_INFINITY;
  #cycleStartedAtMs: number;
  #isReady = false;

  constructor(options: MetricsSinkOptions) {
    this.#options = options;
    this.#cycleStartedAtMs = options.clock.monotonicMs();
  }

  /** Whether a rate over two readings was ever held: from then on users find metrics here. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** What is to be served now. */
  get snapshot(): Snapshot {
    if (this.#options.clock.monotonicMs() >= this.#nextExpiryMs) this.#publish();
    return this.#snapshot;
  }

  /** How many points the current snapshot holds. */
  get storagePoints(): StoragePoints {
    const { nodes, pods } = this.snapshot;
    let container = 0;
    for (const namespace of pods.values())
      for (const pod of namespace.values()) container += pod.containers.length;
    return { node: nodes.size, container };
  }

  /** How much is served of nodes whose last scrape was lost. */
  get staleCounts(): StaleCounts {
    const counts = { node: 0, pod: 0 };
    const { nodes, pods } = this.snapshot;
    for (const [name, record] of this.#records) {
      if (!isStale(record)) continue;
      if (nodes.has(name)) counts.node++;
      for (const { usage } of record.pods.values()) {
        if (usage && pods.get(usage.namespace)?.get(usage.name) === usage) counts.pod++;
      }
    }
    return counts;
  }

  /** What is held of a node; `undefined` where it has not answered, or not for long. */
  held(nodeName: string): HeldNode | undefined {
    const record = this.#records.get(nodeName);
    return record && { record, isServed: this.#isServed(record) };
  }

  /** The nodes of which something is held. */
  heldNodeNames(): Iterable<string> {
    return this.#records.keys();
  }

  /** Notes that a cycle begins: answers and losses that follow are of this one. */
  beginCycle(): void {
    this.#cycleStartedAtMs = this.#options.clock.monotonicMs();
  }

  /**
   * Takes in the answers of a cycle, or of a part of one; nodes without an answer keep what they have.
   *
   * @throws when an answer cannot be taken in, once all the others are published
   */
  receive(batch: MetricsBatch): void {
    const failures: Error[] = [];
    for (const answer of batch.answers) {
      try {
        this.#takeIn(answer);
      } catch (cause) {
        failures.push(new Error(`Cannot take in the answer of node "${answer.nodeName}"`, { cause }));
      }
    }
    this.#publish();
    if (failures[0]) throw failures[0];
  }

  #takeIn(answer: NodeAnswer): void {
    const record = nextNodeRecord(this.#records.get(answer.nodeName), answer, {
      ...this.#options,
      cycleStartedAtMs: this.#cycleStartedAtMs,
    });
    this.#records.set(answer.nodeName, record);
    this.#isReady ||= holdsRate(record);
  }

  /** Notes that a node failed to answer in this cycle: what is held of it is stale, and may be too old by now. */
  lose(nodeName: string): void {
    const record = this.#records.get(nodeName);
    if (!record) return;
    const lost = { ...record, lostInCycleMs: this.#cycleStartedAtMs };
    this.#records.set(nodeName, lost);
    const isDropped = this.#isServed(record) && !this.#isServed(lost);
    if (isDropped) this.#nextExpiryMs = Number.NEGATIVE_INFINITY; // the next reader finds it gone
  }

  /** Drops what is held of nodes that are gone, and what is neither served nor young enough to compare with. */
  retain(isLive: (nodeName: string) => boolean): void {
    const oldestMs = this.#options.clock.monotonicMs() - LONGEST_GAP_MS;
    let hasServedOfDead = false;
    for (const [nodeName, record] of this.#records) {
      const isServed = this.#isServed(record);
      if (isLive(nodeName) && (isServed || record.receivedAtMs >= oldestMs)) continue;
      hasServedOfDead ||= isServed;
      this.#records.delete(nodeName);
    }
    if (hasServedOfDead) this.#publish();
  }

  #publish(): void {
    const { clock, livePodUid } = this.#options;
    const served = new Map(this.#records.entries().filter(([, record]) => this.#isServed(record)));
    this.#nextExpiryMs = this.#expiryOf(served.values());
    this.#snapshot = {
      sequence: this.#snapshot.sequence + 1,
      publishedAtMs: clock.nowMs(),
      nodes: nodeUsages(served),
      pods: podUsages(served, livePodUid),
    };
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

function nodeUsages(records: ReadonlyMap<string, NodeRecord>): Snapshot['nodes'] {
  const usages = new Map();
  for (const [name, { usage }] of records) if (usage) usages.set(name, usage);
  return usages;
}

function podUsages(records: ReadonlyMap<string, NodeRecord>, livePodUid: LivePodUid): Snapshot['pods'] {
  const namespaces = new Map<string, Map<string, PodUsage>>();
  for (const { pods } of records.values()) {
    for (const { usage } of pods.values()) {
      if (!usage) continue;
      const namespace = namespaces.get(usage.namespace) ?? new Map<string, PodUsage>();
      if (namespace.size === 0) namespaces.set(usage.namespace, namespace);
      const other = namespace.get(usage.name);
      namespace.set(usage.name, other ? liveOf(other, usage, livePodUid) : usage);
    }
  }
  return namespaces;
}

/** Of two nodes' words on one pod, that on the pod which lives; where that can't be told, the later. */
function liveOf(a: PodUsage, b: PodUsage, livePodUid: LivePodUid): PodUsage {
  const uid = livePodUid(a.namespace, a.name);
  if (uid !== undefined && a.uid !== b.uid) {
    if (a.uid === uid) return a;
    if (b.uid === uid) return b;
  }
  return b.timestampMs > a.timestampMs ? b : a;
}
