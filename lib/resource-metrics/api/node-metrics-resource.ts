import { notFound } from '#lib/apiserver/http/status-error.ts';
import type { ObjectResource } from '#lib/apiserver/resources/api-group.ts';
import type { ObjectBlock } from '#lib/apiserver/resources/served-object.ts';
import { memoizeByObject } from '#lib/cache/memoize.ts';
import type { LiveNode } from '#lib/resource-metrics/nodes/node-cache.ts';
import type { NodeUsage, Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';
import { type LiveLookup, LiveMetrics, NameOrder } from './live-metrics.ts';
import { NodeMetrics } from './metrics-object.ts';
import { METRICS_GROUP, METRICS_SCHEMA, type MetricsSource, usageColumns } from './metrics-types.ts';
import { createOrigin, type SnapshotVersions, watchableMetrics } from './snapshot-versions.ts';

type LiveNodeMetrics = LiveMetrics<NodeUsage, LiveNode, NodeMetrics>;

/** Also lists snapshots that are not served yet. */
interface NodeMetricsResource extends ObjectResource<NodeMetrics> {
  listOf(snapshot: Snapshot): readonly ObjectBlock[];
}

/** The resource `nodes` of `metrics.k8s.io`. */
export function nodeMetricsResource(
  source: MetricsSource,
  versions: SnapshotVersions | undefined,
): NodeMetricsResource {
  const order = new NameOrder();
  const lookup: LiveLookup<NodeUsage, LiveNode> = {
    revision: () => source.nodes.revision,
    liveOf: ({ name }) => source.nodes.get(name),
  };

  const metricsOf = memoizeByObject((snapshot: Snapshot): LiveNodeMetrics => {
    const origin = createOrigin(snapshot, versions);
    return new LiveMetrics(snapshot.nodes, {
      ...lookup,
      order,
      make: (usage, live) => new NodeMetrics(usage, live, origin),
    });
  });

  const listOf = (snapshot: Snapshot) => [metricsOf(snapshot).current()];
  return {
    type: 'objects',
    name: 'nodes',
    singularName: '',
    kind: 'NodeMetrics',
    listKind: 'NodeMetricsList',
    schema: METRICS_SCHEMA.node,
    listSchema: METRICS_SCHEMA.nodeList,
    isNamespaced: false,
    columns: usageColumns(({ usage }) => usage, source.extraResources),

    get({ name }) {
      const live = source.nodes.get(name);
      if (!live) throw notFound({ group: '', resource: 'node' }, name);
      const snapshot = source.snapshot();
      const usage = snapshot.nodes.get(name);
      if (!usage) throw notFound({ group: METRICS_GROUP, resource: 'nodemetrics' }, name);
      return new NodeMetrics(usage, live, createOrigin(snapshot, versions));
    },

    list: () => listOf(source.snapshot()),
    listOf,

    ...(versions && { watch: watchableMetrics<NodeMetrics>(versions, (snapshot) => [metricsOf(snapshot)]) }),
  };
}
