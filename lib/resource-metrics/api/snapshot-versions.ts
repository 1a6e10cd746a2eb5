import type { ObjectBlock, ServedObject, Watchable } from '#lib/apiserver/resources/served-object.ts';
import type { Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';
import type { Clock } from '#lib/time/clock.ts';

interface SnapshotVersionsOptions {
  readonly snapshot: () => Snapshot;
  readonly clock: Clock;
  /** Returns a number in [0, 1), to distinguish instances that start in the same second. */
  readonly random: () => number;
}

/** Watches may start at the version of a recent list, even if a newer snapshot exists. */
const MAX_LISTED_SNAPSHOTS = 3;
/** The minimum interval between snapshots. */
const POLL_INTERVAL_MS = 250;
const SEQUENCES = 10n ** 7n;
const INSTANCES_PER_SECOND = 100;

/**
 * Assigns each snapshot a version that is unique across instances: the second of the process' start, two random
 * digits, and the snapshot's sequence. Versions increase, also across restarts, and fit into 63 bits.
 */
export class SnapshotVersions {
  readonly #options: SnapshotVersionsOptions;
  readonly #first: bigint;
  /** The last snapshots whose version was returned, oldest first. */
  #listed: readonly Snapshot[] = [];

  constructor(options: SnapshotVersionsOptions) {
    this.#options = options;
    const second = BigInt(Math.floor(options.clock.nowMs() / 1000));
    const instance =
      second * BigInt(INSTANCES_PER_SECOND) + BigInt(Math.floor(options.random() * INSTANCES_PER_SECOND));
    this.#first = instance * SEQUENCES;
  }

  get latest(): Snapshot {
    return this.#options.snapshot();
  }

  versionOf({ sequence }: Snapshot): string {
    return String(this.#first + BigInt(sequence));
  }

  /** Returns the version of the latest snapshot, and retains the snapshot for watches that start at it. */
  current(): string {
    const { latest } = this;
    if (this.#listed.at(-1) !== latest) this.#listed = [...this.#listed, latest].slice(-MAX_LISTED_SNAPSHOTS);
    return this.versionOf(latest);
  }

  /** @returns `undefined` for a version that is too old, or of another instance */
  find(version: string): Snapshot | undefined {
    return this.#listed.find((snapshot) => this.versionOf(snapshot) === version);
  }

  /**
   * Waits for a snapshot of another version.
   *
   * @throws the signal's reason if it aborts
   */
  async changed(version: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (this.versionOf(this.latest) === version) await clock.sleep(POLL_INTERVAL_MS, { signal });
  }
}

/** Metadata shared by all metrics of a snapshot. */
export interface MetricsOrigin {
  /** Time of publication. */
  readonly creationTimestampMs: number;
  /** `undefined` without watches. */
  readonly resourceVersion: string | undefined;
}

export function createOrigin(snapshot: Snapshot, versions: SnapshotVersions | undefined): MetricsOrigin {
  return { creationTimestampMs: snapshot.publishedAtMs, resourceVersion: versions?.versionOf(snapshot) };
}

/** Metrics with their usage and live object. */
interface MadeMetrics extends ServedObject {
  readonly usage: object;
  readonly live: object;
}

/** Current metrics, and those that clients may have received. */
interface WatchedMetrics {
  current(): ObjectBlock;
  possiblySent(): ObjectBlock;
}

/**
 * Watches metrics across snapshots. Metrics are unchanged if their usage and live object are.
 *
 * @param isSameUsage compares usages; by identity by default
 */
export function watchableMetrics<Metrics extends MadeMetrics>(
  versions: SnapshotVersions,
  metricsOf: (snapshot: Snapshot, namespace: string | undefined) => readonly WatchedMetrics[],
  isSameUsage: (a: Metrics['usage'], b: Metrics['usage']) => boolean = Object.is,
): Watchable<Metrics> {
  return {
    version: () => versions.current(),
    current: (namespace) => metricsOf(versions.latest, namespace).map((metrics) => metrics.current()),
    possiblySent: (version, namespace) => {
      const snapshot = versions.find(version);
      return snapshot && metricsOf(snapshot, namespace).map((metrics) => metrics.possiblySent());
    },
    changed: (version, signal) => versions.changed(version, signal),
    isUnchanged: (before, after) => before.live === after.live && isSameUsage(before.usage, after.usage),
  };
}
