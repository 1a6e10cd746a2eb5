import type { ObjectBatch, ServedObject } from '#lib/apiserver/served-object.ts';
import type { Watchable } from '#lib/apiserver/watch/watchable.ts';
import type { Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';
import type { SnapshotVersions } from './snapshot-versions.ts';

/** Metrics, and what they were made of. */
interface MadeMetrics extends ServedObject {
  readonly usage: object;
  readonly live: object;
}

/** A batch of metrics as it is, and as it may have been told. */
interface ToldBatch {
  current(): ObjectBatch;
  told(): ObjectBatch;
}

/**
 * Follows metrics from snapshot to snapshot: one is unchanged if it is of the same usage and the same live object.
 *
 * @param isSameUsage whether two usages say the same; by default, when they are one
 */
export function watchableMetrics<Metrics extends MadeMetrics>(
  versions: SnapshotVersions,
  batchesOf: (snapshot: Snapshot, namespace: string | undefined) => readonly ToldBatch[],
  isSameUsage: (a: Metrics['usage'], b: Metrics['usage']) => boolean = Object.is,
): Watchable<Metrics> {
  return {
    version: () => versions.current(),
    current: (namespace) => batchesOf(versions.latest, namespace).map((batch) => batch.current()),
    told: (version, namespace) => {
      const snapshot = versions.find(version);
      return snapshot && batchesOf(snapshot, namespace).map((batch) => batch.told());
    },
    changed: (version, signal) => versions.changed(version, signal),
    isUnchanged: (before, after) => before.live === after.live && isSameUsage(before.usage, after.usage),
  };
}
