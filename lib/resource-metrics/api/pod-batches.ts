import type { LivePod } from '#lib/resource-metrics/pods/live-pods.ts';
import type { PodUsage, Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';
import { LiveBatch, type LiveLookup } from './live-batch.ts';
import { type MetricsOrigin, originOf } from './metrics-origin.ts';
import { NameOrder } from './name-order.ts';
import { PodMetrics } from './pod-metrics.ts';
import type { SnapshotVersions } from './snapshot-versions.ts';

/** The metrics of the pods of one namespace. */
export type NamespaceBatch = LiveBatch<PodUsage, LivePod, PodMetrics>;

/** The pods of one snapshot, a batch for each namespace, made when it is first asked for. */
interface SnapshotBatches {
  readonly snapshot: Snapshot;
  readonly origin: MetricsOrigin;
  /** Sorted. */
  readonly namespaces: readonly string[];
  readonly byNamespace: Map<string, NamespaceBatch>;
}

const NONE: ReadonlyMap<string, PodUsage> = new Map();

/** The metrics of the live pods of snapshots, namespace by namespace, for as long as a snapshot is held. */
export class PodBatches {
  readonly #lookup: LiveLookup<PodUsage, LivePod>;
  readonly #versions: SnapshotVersions | undefined;
  readonly #held = new WeakMap<Snapshot, SnapshotBatches>();
  /** By namespace. */
  #orders = new Map<string, NameOrder>();

  constructor(lookup: LiveLookup<PodUsage, LivePod>, versions: SnapshotVersions | undefined) {
    this.#lookup = lookup;
    this.#versions = versions;
  }

  /** @param namespace `undefined` for all, in their order */
  of(snapshot: Snapshot, namespace: string | undefined): readonly NamespaceBatch[] {
    const batches = this.#batchesOf(snapshot);
    const namespaces = namespace === undefined ? batches.namespaces : [namespace];
    return namespaces.map((one) => this.#batchOf(batches, one));
  }

  #batchesOf(snapshot: Snapshot): SnapshotBatches {
    let batches = this.#held.get(snapshot);
    if (!batches) {
      const namespaces = [...snapshot.pods.keys()].sort();
      this.#orders = new Map(namespaces.map((namespace) => [namespace, this.#orderOf(namespace)]));
      batches = { snapshot, origin: originOf(snapshot, this.#versions), namespaces, byNamespace: new Map() };
      this.#held.set(snapshot, batches);
    }
    return batches;
  }

  #batchOf({ snapshot, origin, byNamespace }: SnapshotBatches, namespace: string): NamespaceBatch {
    const held = byNamespace.get(namespace);
    if (held) return held;
    const usages = snapshot.pods.get(namespace);
    const batch = new LiveBatch(usages ?? NONE, {
      ...this.#lookup,
      order: this.#orderOf(namespace),
      make: (usage, live) => new PodMetrics(usage, live, origin),
    });
    if (usages) byNamespace.set(namespace, batch); // whoever asks for what is not there leaves nothing behind
    return batch;
  }

  #orderOf(namespace: string): NameOrder {
    return this.#orders.get(namespace) ?? new NameOrder();
  }
}
