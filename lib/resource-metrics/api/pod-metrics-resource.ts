import { notFound } from '#lib/apiserver/http/status-error.ts';
import type { ObjectResource } from '#lib/apiserver/resources/api-group.ts';
import type { ObjectBlock } from '#lib/apiserver/resources/served-object.ts';
import { OBJECTS_A_SLICE, type TimeSlices } from '#lib/concurrency/event-loop.ts';
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
  type MetricsOrigin,
  originOf,
  type SnapshotVersions,
  watchableMetrics,
} from './snapshot-versions.ts';

/** The same of any snapshot, also of one that is not served yet. */
interface PodMetricsResource extends ObjectResource<PodMetrics> {
  listOf(
    snapshot: Snapshot,
    namespace: string | undefined,
    slices: TimeSlices,
  ): ReturnType<ObjectResource['list']>;
}

/** `pods` of `metrics.k8s.io`: what every live pod uses, container by container. */
export function podMetricsResource(
  source: MetricsSource,
  versions: SnapshotVersions | undefined,
): PodMetricsResource {
  const { extraResources } = source;
  const lookup = {
    revision: () => source.pods.revision,
    liveOf: (usage: PodUsage) => livePodOf(source, usage),
  };
  const namespaces = new NamespacedPodMetrics(lookup, versions);
  const listOf: PodMetricsResource['listOf'] = (snapshot, namespace, slices) => {
    const all = namespaces.of(snapshot, namespace);
    const pending = all.reduce((sum, { pending }) => sum + pending, 0);
    return pending > OBJECTS_A_SLICE ? inSlices(all, slices) : all.map((metrics) => metrics.current());
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
    columns: usageColumns(({ usage }) => sumOf(usage.containers, extraResources), extraResources),

    get({ namespace, name }) {
      if (!source.pods.get(namespace, name)) throw notFound({ group: '', resource: 'pods' }, name);
      const snapshot = source.snapshot();
      const usage = snapshot.pods.get(namespace)?.get(name);
      const live = usage && livePodOf(source, usage);
      if (!live) throw notFound({ group: METRICS_GROUP, resource: 'podmetrics' }, `${namespace}/${name}`);
      return new PodMetrics(usage, live, originOf(snapshot, versions));
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

/** The metrics of many pods, between which others go on. */
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

/** The live pod that a usage belongs to, which is none if another pod has taken its name since. */
export function livePodOf(
  { pods }: Pick<MetricsSource, 'pods'>,
  { key, uid }: PodUsage,
): LivePod | undefined {
  const live = pods.find(key);
  return uid === undefined || uid === live?.uid ? live : undefined;
}

function sumOf(containers: readonly ContainerUsage[], extraResources: readonly string[] = []): Usage {
  let [cpuNanocores, memoryBytes] = [0, 0];
  for (const container of containers) {
    cpuNanocores += container.cpuNanocores;
    memoryBytes += container.memoryBytes;
  }
  if (extraResources.length === 0) return { cpuNanocores, memoryBytes };
  return { cpuNanocores, memoryBytes, extraBytes: sumOfExtras(containers, extraResources) };
}

/** Of each resource of which every container's use is known. */
function sumOfExtras(containers: readonly Usage[], names: readonly string[]): Record<string, number> {
  const sums = new Map<string, number>();
  for (const name of names) {
    let sum = 0;
    for (const { extraBytes } of containers) sum += getOwn(extraBytes, name) ?? Number.NaN;
    if (!Number.isNaN(sum)) sums.set(name, sum);
  }
  return Object.fromEntries(sums);
}

/** The metrics of the pods of one namespace. */
type NamespaceMetrics = LiveMetrics<PodUsage, LivePod, PodMetrics>;

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
class NamespacedPodMetrics {
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
