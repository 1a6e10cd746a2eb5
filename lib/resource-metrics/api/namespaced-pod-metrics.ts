import type { LivePod } from '#lib/resource-metrics/nodes/pod-cache.ts';
import type { PodUsage, Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';
import { type LiveLookup, LiveMetrics } from './live-metrics.ts';
import { PodMetrics } from './metrics-object.ts';
import { NameOrder } from './name-order.ts';
import type { SnapshotVersions } from './snapshot-versions.ts';
import { type MetricsOrigin, originOf } from './snapshot-versions.ts';

/** The metrics of the pods of one namespace. */
export type NamespaceMetrics = LiveMetrics<PodUsage, LivePod, PodMetrics>;

/** The metrics of the pods of one snapshot; those of a namespace are made when they are first requested. */
interface SnapshotMetrics {
  readonly snapshot: Snapshot;
  readonly origin: MetricsOrigin;
  /** Sorted. */
  readonly namespaces: readonly string[];
  readonly byNamespace: Map<string, NamespaceMetrics>;
}

const NONE: ReadonlyMap<string, PodUsage> = new Map();

/** The metrics of the live pods of snapshots, namespace by namespace, for as long as a snapshot is held. */
export class NamespacedPodMetrics {
  readonly #lookup: LiveLookup<PodUsage, LivePod>;
  readonly #versions: SnapshotVersions | undefined;
  readonly #held = new WeakMap<Snapshot, SnapshotMetrics>();
  /** By namespace. */
  #orders = new Map<string, NameOrder>();

  constructor(lookup: LiveLookup<PodUsage, LivePod>, versions: SnapshotVersions | undefined) {
    this.#lookup = lookup;
    this.#versions = versions;
  }

  /** @param namespace `undefined` for all, in their order */
  of(snapshot: Snapshot, namespace: string | undefined): readonly NamespaceMetrics[] {
    const all = this.#metricsOf(snapshot);
    const namespaces = namespace === undefined ? all.namespaces : [namespace];
    return namespaces.map((one) => this.#metricsOfNamespace(all, one));
  }

  #metricsOf(snapshot: Snapshot): SnapshotMetrics {
    let all = this.#held.get(snapshot);
    if (!all) {
      const namespaces = [...snapshot.pods.keys()].sort();
      this.#orders = new Map(namespaces.map((namespace) => [namespace, this.#orderOf(namespace)]));
      all = { snapshot, origin: originOf(snapshot, this.#versions), namespaces, byNamespace: new Map() };
      this.#held.set(snapshot, all);
    }
    return all;
  }

  #metricsOfNamespace(
    { snapshot, origin, byNamespace }: SnapshotMetrics,
    namespace: string,
  ): NamespaceMetrics {
    const held = byNamespace.get(namespace);
    if (held) return held;
    const usages = snapshot.pods.get(namespace);
    const metrics = new LiveMetrics(usages ?? NONE, {
      ...this.#lookup,
      order: this.#orderOf(namespace),
      make: (usage, live) => new PodMetrics(usage, live, origin),
    });
    if (usages) byNamespace.set(namespace, metrics); // a request for what is not there leaves nothing behind
    return metrics;
  }

  #orderOf(namespace: string): NameOrder {
    return this.#orders.get(namespace) ?? new NameOrder();
  }
}
