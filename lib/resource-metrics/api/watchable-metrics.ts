import type { ObjectBlock, ServedObject } from '#lib/apiserver/objects/served-object.ts';
import type { Watchable } from '#lib/apiserver/objects/watchable.ts';
import type { Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';
import type { SnapshotVersions } from './snapshot-versions.ts';

/** Metrics, and what they were made of. */
interface MadeMetrics extends ServedObject {
  readonly usage: object;
  readonly live: object;
}

/** Metrics as they are, and as they may have been sent before. */
interface WatchedMetrics {
  current(): ObjectBlock;
  possiblySent(): ObjectBlock;
}

/**
 * Follows metrics from snapshot to snapshot: one is unchanged if it is of the same usage and the same live object.
 *
 * @param isSameUsage whether two usages say the same; by default, when they are one
 */
export function watchableMetrics<Metrics extends MadeMetrics>(
  versions: SnapshotVersions,
  metricsOf: (snapshot: Snapshot, namespace: string | undefined) => readonly WatchedMetrics[],
  isSameUsage: (a: Metrics['usage'], b: Metrics['usage']) => boolean = Object.is,
): Watchable<Metrics> {
  return {
    version: () => versions.current(),
    current: (namespace) => metricsOf(versions.latest, namespace).map((metrics) => metrics.current()),
    told: (version, namespace) => {
      const snapshot = versions.find(version);
      return snapshot && metricsOf(snapshot, namespace).map((metrics) => metrics.possiblySent());
    },
    changed: (version, signal) => versions.changed(version, signal),
    isUnchanged: (before, after) => before.live === after.live && isSameUsage(before.usage, after.usage),
  };
}
