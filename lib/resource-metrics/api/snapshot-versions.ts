import type { ObjectBlock, ServedObject, Watchable } from '#lib/apiserver/resources/served-object.ts';
import type { Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';
import type { Clock } from '#lib/time/clock.ts';

/** What versions are made with. */
interface SnapshotVersionsOptions {
  readonly snapshot: () => Snapshot;
  readonly clock: Clock;
  /** A number in [0, 1), to tell instances apart that start in the same second. */
  readonly random: () => number;
}

/** Watchers may begin at the version that they were told in a list, though it is not the latest any more. */
const KEPT_SNAPSHOTS = 3;
/** How soon a new snapshot is noticed: as often as snapshots may follow one another. */
const LOOK_EVERY_MS = 250;
const SEQUENCES = 10n ** 7n;
const INSTANCES_A_SECOND = 100;

/**
 * Gives each snapshot a version that no other instance gives: the second of our start, two digits of chance, and
 * the snapshot's sequence. Versions rise, also from one instance to the next, and fit into 63 bits.
 */
export class SnapshotVersions {
  readonly #options: SnapshotVersionsOptions;
  readonly #first: bigint;
  /** The latest that clients were told of; the last one is the latest. */
  #told: readonly Snapshot[] = [];

  constructor(options: SnapshotVersionsOptions) {
    this.#options = options;
    const second = BigInt(Math.floor(options.clock.nowMs() / 1000));
    const instance =
      second * BigInt(INSTANCES_A_SECOND) + BigInt(Math.floor(options.random() * INSTANCES_A_SECOND));
    this.#first = instance * SEQUENCES;
  }

  /** The snapshot of this moment. */
  get latest(): Snapshot {
    return this.#options.snapshot();
  }

  versionOf({ sequence }: Snapshot): string {
    return String(this.#first + BigInt(sequence));
  }

  /** The version of the snapshot of this moment, which is kept so that watches can begin with it. */
  current(): string {
    const { latest } = this;
    if (this.#told.at(-1) !== latest) this.#told = [...this.#told, latest].slice(-KEPT_SNAPSHOTS);
    return this.versionOf(latest);
  }

  /** @returns `undefined` for a version that is not kept any more, or another instance's */
  find(version: string): Snapshot | undefined {
    return this.#told.find((snapshot) => this.versionOf(snapshot) === version);
  }

  /**
   * Waits until there is a snapshot of another version.
   *
   * @throws the signal's reason when it aborts
   */
  async changed(version: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (this.versionOf(this.latest) === version) await clock.sleep(LOOK_EVERY_MS, { signal });
  }
}

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
