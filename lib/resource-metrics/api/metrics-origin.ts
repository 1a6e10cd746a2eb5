import type { Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';
import type { SnapshotVersions } from './snapshot-versions.ts';

/** What all metrics of a snapshot have in common. */
export interface MetricsOrigin {
  /** When the snapshot was published. */
  readonly creationTimestampMs: number;
  /** `undefined` where nothing can be watched. */
  readonly resourceVersion: string | undefined;
}

/** Tells where the metrics of a snapshot come from. */
export function originOf(snapshot: Snapshot, versions: SnapshotVersions | undefined): MetricsOrigin {
  return { creationTimestampMs: snapshot.publishedAtMs, resourceVersion: versions?.versionOf(snapshot) };
}
