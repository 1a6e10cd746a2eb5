import type { Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';
import type { Clock } from '#lib/time/clock.ts';

interface ServedSnapshotOptions {
  readonly clock: Clock;
  /** The last published snapshot, without expired metrics. */
  readonly latest: () => Snapshot;
  /** Whether there are responses to prepare. */
  readonly isAwaited: () => boolean;
  /** Prepares the responses of a snapshot. */
  readonly prepare: (snapshot: Snapshot, signal: AbortSignal) => Promise<void>;
  /** Called when preparation fails; responses are then created on demand. */
  readonly onFailure: (error: unknown) => void;
}

/** Maximum time for which the previous snapshot is served while the next one is prepared. */
const MAX_PREPARATION_MS = 5_000;

/** No preparation starts for this many times the duration of the last one, since late responses may follow soon. */
const REST_FACTOR = 4;

/** The preparation of the next snapshot, while the previous one is served. */
interface Preparation {
  snapshot: Snapshot;
  readonly sinceMs: number;
  readonly over: AbortController;
  readonly timer: Disposable;
}

/**
 * Serves the last snapshot once recently requested responses are prepared, so that clients do not wait for them.
 * Until then it serves the previous snapshot, which is some tenths of a second older.
 */
export class ServedSnapshot implements Disposable {
  readonly #options: ServedSnapshotOptions;
  #preparation: Preparation | undefined;
  #restsUntilMs = Number.NEGATIVE_INFINITY;
  #isDisposed = false;

  constructor(options: ServedSnapshotOptions) {
    this.#options = options;
  }

  get current(): Snapshot {
    return this.#preparation?.snapshot ?? this.#options.latest();
  }

  /** Publishes the next snapshot, which is served once it is prepared. */
  replaceBy(publish: () => void): void {
    const { clock, isAwaited } = this.#options;
    const { current } = this;
    publish();
    const isIdle = !this.#isDisposed && !this.#preparation && clock.monotonicMs() >= this.#restsUntilMs;
    const isServed = current.pods.size > 0; // a ready server must not serve an empty list
    if (isIdle && isServed && isAwaited()) this.#begin(current);
  }

  /** Later snapshots, such as the last responses at shutdown, are served at once; no timer remains. */
  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#end(this.#preparation);
  }

  /** @param snapshot served in the meantime */
  #begin(snapshot: Snapshot): void {
    const { clock } = this.#options;
    const preparation: Preparation = {
      snapshot,
      sinceMs: clock.monotonicMs(),
      over: new AbortController(),
      timer: clock.startTimer(MAX_PREPARATION_MS, () => this.#end(preparation)),
    };
    this.#preparation = preparation;
    void this.#prepareLatest(preparation).finally(() => this.#end(preparation));
  }

  /** Also prepares snapshots published in the meantime; each is served once it is prepared. */
  async #prepareLatest(preparation: Preparation): Promise<void> {
    const { signal } = preparation.over;
    const { latest, prepare, onFailure } = this.#options;
    try {
      for (let prepared: Snapshot | undefined; prepared !== latest() && !signal.aborted; ) {
        prepared = latest();
        await prepare(prepared, signal);
        preparation.snapshot = prepared; // without effect after the end of the preparation
      }
    } catch (error) {
      if (!signal.aborted) onFailure(error);
    }
  }

  #end(preparation: Preparation | undefined): void {
    if (!preparation || this.#preparation !== preparation) return;
    const nowMs = this.#options.clock.monotonicMs();
    this.#restsUntilMs = nowMs + REST_FACTOR * (nowMs - preparation.sinceMs);
    this.#preparation = undefined;
    preparation.timer[Symbol.dispose]();
    preparation.over.abort(new Error('the next snapshot is served'));
  }
}
