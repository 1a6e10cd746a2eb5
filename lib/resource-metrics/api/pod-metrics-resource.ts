import { notFound } from '#lib/apiserver/http/status-error.ts';
import type { ObjectResource } from '#lib/apiserver/resources/api-group.ts';
import type { ObjectBlock } from '#lib/apiserver/resources/served-object.ts';
import { OBJECTS_PER_SLICE, type TimeSlices } from '#lib/concurrency/event-loop.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { LivePod } from '#lib/resource-metrics/nodes/pod-cache.ts';
import {
  type ContainerUsage,
  isSamePodUsage,
  type PodUsage,
  type Snapshot,
} from '#lib/resource-metrics/sink/snapshot.ts';
import { type LiveLookup, LiveMetrics, NameOrder } from './live-metrics.ts';
import { PodMetrics } from './metrics-object.ts';
import {
  METRICS_GROUP,
  METRICS_SCHEMA,
  type MetricsSource,
  type Usage,
  usageColumns,
} from './metrics-types.ts';
import { countTimestamps } from './served-timestamps.ts';
import {
  createOrigin,
  type MetricsOrigin,
  type SnapshotVersions,
  watchableMetrics,
} from './snapshot-versions.ts';

/** Also lists snapshots that are not served yet. */
interface PodMetricsResource extends ObjectResource<PodMetrics> {
  listOf(
    snapshot: Snapshot,
    namespace: string | undefined,
    slices: TimeSlices,
  ): ReturnType<ObjectResource['list']>;
}

/** The resource `pods` of `metrics.k8s.io`. */
export function podMetricsResource(
  source: MetricsSource,
  versions: SnapshotVersions | undefined,
): PodMetricsResource {
  const { extraResources } = source;
  const lookup = {
    revision: () => source.pods.revision,
    liveOf: (usage: PodUsage) => findLivePod(source, usage),
  };
  const namespaces = new NamespacedPodMetrics(lookup, versions);
  const listOf: PodMetricsResource['listOf'] = (snapshot, namespace, slices) => {
    const all = namespaces.of(snapshot, namespace);
    const pending = all.reduce((sum, { pending }) => sum + pending, 0);
    return pending > OBJECTS_PER_SLICE ? inSlices(all, slices) : all.map((metrics) => metrics.current());
  };
  return {
    type: 'objects',
    name: 'pods',
    singularName: '',
    kind: 'PodMetrics',
    listKind: 'PodMetricsList',
    schema: METRICS_SCHEMA.pod,
    listSchema: METRICS_SCHEMA.podList,
    isNamespaced: true,
    columns: usageColumns(({ usage }) => sumUsages(usage.containers, extraResources), extraResources),

    get({ namespace, name }) {
      if (!source.pods.get(namespace, name)) throw notFound({ group: '', resource: 'pods' }, name);
      const snapshot = source.snapshot();
      const usage = snapshot.pods.get(namespace)?.get(name);
      const live = usage && findLivePod(source, usage);
      if (!live) throw notFound({ group: METRICS_GROUP, resource: 'podmetrics' }, `${namespace}/${name}`);
      return new PodMetrics(usage, live, createOrigin(snapshot, versions));
    },

    list: (namespace, slices) => listOf(source.snapshot(), namespace, slices),
    listOf,

    ...(versions && {
      watch: watchableMetrics<PodMetrics>(
        versions,
        (snapshot, namespace) => namespaces.of(snapshot, namespace),
        isSamePodUsage,
      ),
    }),
  };
}

/** Creates the metrics of many pods in time slices. */
async function inSlices(
  namespaces: readonly NamespaceMetrics[],
  slices: TimeSlices,
): Promise<readonly ObjectBlock[]> {
  const current: ObjectBlock[] = [];
  for (const namespace of namespaces) {
    const metrics = await namespace.currentInSlices(slices);
    countTimestamps(metrics);
    current.push(metrics);
  }
  return current;
}

/** Finds the live pod of a usage; `undefined` if another pod has its name now. */
export function findLivePod(
  { pods }: Pick<MetricsSource, 'pods'>,
  { key, uid }: PodUsage,
): LivePod | undefined {
  const live = pods.find(key);
  return uid === undefined || uid === live?.uid ? live : undefined;
}

function sumUsages(containers: readonly ContainerUsage[], extraResources: readonly string[] = []): Usage {
  let [cpuNanocores, memoryBytes] = [0, 0];
  for (const container of containers) {
    cpuNanocores += container.cpuNanocores;
    memoryBytes += container.memoryBytes;
  }
  if (extraResources.length === 0) return { cpuNanocores, memoryBytes };
  return { cpuNanocores, memoryBytes, extraBytes: sumExtras(containers, extraResources) };
}

/** Sums the resources that are available for every container. */
function sumExtras(containers: readonly Usage[], names: readonly string[]): Record<string, number> {
  const sums = new Map<string, number>();
  for (const name of names) {
    let sum = 0;
    for (const { extraBytes } of containers) sum += getOwn(extraBytes, name) ?? Number.NaN;
    if (!Number.isNaN(sum)) sums.set(name, sum);
  }
  return Object.fromEntries(sums);
}

type NamespaceMetrics = LiveMetrics<PodUsage, LivePod, PodMetrics>;

/** The metrics of one snapshot; those of a namespace are created on the first request. */
interface SnapshotMetrics {
  readonly snapshot: Snapshot;
  readonly origin: MetricsOrigin;
  /** Sorted. */
  readonly namespaces: readonly string[];
  readonly byNamespace: Map<string, NamespaceMetrics>;
}

const NO_USAGES: ReadonlyMap<string, PodUsage> = new Map();

/** The metrics of live pods by snapshot and namespace, as long as the snapshot is retained. */
class NamespacedPodMetrics {
  readonly #lookup: LiveLookup<PodUsage, LivePod>;
  readonly #versions: SnapshotVersions | undefined;
  readonly #cache = new WeakMap<Snapshot, SnapshotMetrics>();
  /** By namespace. */
  #orders = new Map<string, NameOrder>();

  constructor(lookup: LiveLookup<PodUsage, LivePod>, versions: SnapshotVersions | undefined) {
    this.#lookup = lookup;
    this.#versions = versions;
  }

  /** @param namespace `undefined` for all, in sorted order */
  of(snapshot: Snapshot, namespace: string | undefined): readonly NamespaceMetrics[] {
    const all = this.#findSnapshot(snapshot);
    const namespaces = namespace === undefined ? all.namespaces : [namespace];
    return namespaces.map((one) => this.#findNamespace(all, one));
  }

  #findSnapshot(snapshot: Snapshot): SnapshotMetrics {
    let all = this.#cache.get(snapshot);
    if (!all) {
      const namespaces = [...snapshot.pods.keys()].sort();
      this.#orders = new Map(namespaces.map((namespace) => [namespace, this.#findOrder(namespace)]));
      all = { snapshot, origin: createOrigin(snapshot, this.#versions), namespaces, byNamespace: new Map() };
      this.#cache.set(snapshot, all);
    }
    return all;
  }

  #findNamespace({ snapshot, origin, byNamespace }: SnapshotMetrics, namespace: string): NamespaceMetrics {
    const cached = byNamespace.get(namespace);
    if (cached) return cached;
    const usages = snapshot.pods.get(namespace);
    const metrics = new LiveMetrics(usages ?? NO_USAGES, {
      ...this.#lookup,
      order: this.#findOrder(namespace),
      make: (usage, live) => new PodMetrics(usage, live, origin),
    });
    if (usages) byNamespace.set(namespace, metrics); // unknown namespaces are not cached
    return metrics;
  }

  #findOrder(namespace: string): NameOrder {
    return this.#orders.get(namespace) ?? new NameOrder();
  }
}
