import type { ApiGroup, ListedObjects } from '#lib/apiserver/resources/api-group.ts';
import type { NextObjects, RecentLists } from '#lib/apiserver/resources/recent-lists.ts';
import type { SelectedBlock } from '#lib/apiserver/resources/selection.ts';
import type { Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';
import type { Clock } from '#lib/time/clock.ts';
import { METRICS_GROUP, METRICS_SCHEMAS, type MetricsSource } from './metrics-types.ts';
import { nodeMetricsResource } from './node-metrics-resource.ts';
import { podMetricsResource } from './pod-metrics-resource.ts';
import { type TimestampCounts, type Timestamped, timestampsOf } from './served-timestamps.ts';
import { SnapshotVersions } from './snapshot-versions.ts';

const VERSION = 'v1beta1';

/** What the group does beside serving. */
export interface MetricsGroupOptions {
  /** Without it nothing can be watched and nothing has a version, as with the reference. */
  readonly watch?: MetricsWatchOptions | undefined;
  /** Told how many usages are served of which timestamp. */
  readonly onServed?: (timestamps: TimestampCounts) => void;
  /** Told which lists are asked for. */
  readonly recent?: RecentLists | undefined;
}

/** The group, and what has it ready for a snapshot that is served next. */
export interface MetricsApiGroup extends ApiGroup {
  /** Has the objects of a snapshot made that are asked for before it is served. */
  nextObjects(snapshot: Snapshot): NextObjects;
}

/** What the group needs from outside so that it can be watched. */
export interface MetricsWatchOptions {
  readonly clock: Clock;
  /** A number in [0, 1), to tell instances apart that start in the same second. */
  readonly random: () => number;
}

/**
 * `metrics.k8s.io/v1beta1`, served from one snapshot alone. What does not live is not served, and labels are
 * those that the live object has at that moment.
 */
export function metricsApiGroup(
  source: MetricsSource,
  { watch, onServed, recent }: MetricsGroupOptions = {},
): MetricsApiGroup {
  const tellTimestamps = (selection: readonly SelectedBlock<Timestamped>[]) =>
    onServed?.(timestampsOf(selection));
  const versions = watch && new SnapshotVersions({ ...watch, snapshot: () => source.snapshot() });
  const [nodes, pods] = [nodeMetricsResource(source, versions), podMetricsResource(source, versions)];
  const resources = [nodes, pods].map((resource) => ({
    ...resource,
    onServed: tellTimestamps,
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
