import type { ObjectResource } from '#lib/apiserver/api-group.ts';
import { notFound } from '#lib/apiserver/errors/failures.ts';
import type { ObjectBlock } from '#lib/apiserver/objects/served-object.ts';
import { OBJECTS_A_SLICE, type TimeSlices } from '#lib/concurrency/time-slices.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { type LivePod } from '#lib/resource-metrics/nodes/pod-cache.ts';
import {
  type ContainerUsage,
  isSamePodUsage,
  type PodUsage,
  type Snapshot,
} from '#lib/resource-metrics/sink/snapshot.ts';
import { PodMetrics } from './metrics-object.ts';
import { METRICS_GROUP, type MetricsSource } from './metrics-source.ts';
import { METRICS_SCHEMA } from './metrics-types.ts';
import { NamespacedPodMetrics, type NamespaceMetrics } from './namespaced-pod-metrics.ts';
import { countTimestamps } from './served-timestamps.ts';
import type { SnapshotVersions } from './snapshot-versions.ts';
import { originOf } from './snapshot-versions.ts';
import { usageColumns } from './usage-columns.ts';
import type { Usage } from './usage-types.ts';
import { watchableMetrics } from './watchable-metrics.ts';

/** The same of any snapshot, also of one that is not served yet. */
export interface PodMetricsResource extends ObjectResource<PodMetrics> {
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
