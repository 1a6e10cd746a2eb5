import type { ApiGroup, ListedObjects } from '#lib/apiserver/resources/api-group.ts';
import type { NextObjects, RecentLists } from '#lib/apiserver/resources/recent-lists.ts';
import type { SelectedBlock } from '#lib/apiserver/resources/selection.ts';
import type { Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';
import type { Clock } from '#lib/time/clock.ts';
import { METRICS_GROUP, METRICS_SCHEMAS, type MetricsSource } from './metrics-types.ts';
import { nodeMetricsResource } from './node-metrics-resource.ts';
import { podMetricsResource } from './pod-metrics-resource.ts';
import { countSelectedTimestamps, type TimestampCounts, type Timestamped } from './served-timestamps.ts';
import { SnapshotVersions } from './snapshot-versions.ts';

const VERSION = 'v1beta1';

interface MetricsGroupOptions {
  /** Enables watches and resource versions, which metrics-server does not have. */
  readonly watch?: MetricsWatchOptions | undefined;
  /** Called with the number of usages served of each timestamp. */
  readonly onServed?: (timestamps: TimestampCounts) => void;
  /** Records requested lists. */
  readonly recent?: RecentLists | undefined;
}

/** The group, with access to snapshots that are not served yet. */
interface MetricsApiGroup extends ApiGroup {
  /** Returns the objects of a snapshot, to encode lists before it is served. */
  nextObjects(snapshot: Snapshot): NextObjects;
}

interface MetricsWatchOptions {
  readonly clock: Clock;
  /** Returns a number in [0, 1), to distinguish instances that start in the same second. */
  readonly random: () => number;
}

/** `metrics.k8s.io/v1beta1`: metrics of one snapshot for live objects, with their current labels. */
export function metricsApiGroup(
  source: MetricsSource,
  { watch, onServed, recent }: MetricsGroupOptions = {},
): MetricsApiGroup {
  const reportTimestamps = (selection: readonly SelectedBlock<Timestamped>[]) =>
    onServed?.(countSelectedTimestamps(selection));
  const versions = watch && new SnapshotVersions({ ...watch, snapshot: () => source.snapshot() });
  const [nodes, pods] = [nodeMetricsResource(source, versions), podMetricsResource(source, versions)];
  const resources = [nodes, pods].map((resource) => ({
    ...resource,
    onServed: reportTimestamps,
    onListed: (listed: ListedObjects) =>
      recent?.note({ group: METRICS_GROUP, version: VERSION, resource }, listed) ?? listed.body,
  }));
  return {
    name: METRICS_GROUP,
    versions: [{ version: VERSION, resources: () => resources, schemas: METRICS_SCHEMAS }],
    nextObjects: (snapshot) => ({
      resourceVersion: versions?.versionOf(snapshot),
      list: (resource, namespace, slices) =>
        resource === pods.name ? pods.listOf(snapshot, namespace, slices) : nodes.listOf(snapshot),
    }),
  };
}
