import type { Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';
import type { Clock } from '#lib/time/clock.ts';

/** What a served snapshot is made with. */
export interface ServedSnapshotOptions {
  readonly clock: Clock;
  /** The snapshot that was published last, without what has expired since. */
  readonly latest: () => Snapshot;
  /** Whether there is anything to be made ready. */
  readonly isAwaited: () => boolean;
  /** Makes ready what will be asked of a snapshot. */
  readonly prepare: (snapshot: Snapshot, signal: AbortSignal) => Promise<void>;
  /** Told when that fails; what is asked is made ready then as ever. */
  readonly onFailure: (error: unknown) => void;
}

/** For so long the snapshot before is served at most while the next is made ready. */
const LONGEST_HOLD_MS = 5_000;

/** After it took so long to make one ready, for so many times as long none is: those of late responses may follow soon. */
const REST_FACTOR = 4;

/** A snapshot that goes on to be served while the next is made ready. */
interface Hold {
  snapshot: Snapshot;
  readonly sinceMs: number;
  readonly over: AbortController;
  readonly timer: Disposable;
}

/**
 * The snapshot that is served: the latest, once all is made ready that was asked for lately. So nobody waits for that;
 * who asks meanwhile gets what there was before, which is some tenths of a second older.
 */
export class ServedSnapshot implements Disposable {
  readonly #options: ServedSnapshotOptions;
  #hold: Hold | undefined;
  #restsUntilMs = Number.NEGATIVE_INFINITY;
  #isDisposed = false;

  constructor(options: ServedSnapshotOptions) {
    this.#options = options;
  }

  get current(): Snapshot {
    return this.#hold?.snapshot ?? this.#options.latest();
  }

  /** Publishes the next snapshot, which is served once it is made ready. */
  replaceBy(publish: () => void): void {
    const { clock, isAwaited } = this.#options;
    const { current } = this;
    publish();
    const isIdle = !this.#isDisposed && !this.#hold && clock.monotonicMs() >= this.#restsUntilMs;
    const isServed = current.pods.size > 0; // a server that calls itself ready serves no empty list
    if (isIdle && isServed && isAwaited()) this.#begin(current);
  }

  /** What is published from now on, such as the last responses at shutdown, is served at once: no timer is left behind. */
  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#end(this.#hold);
  }

  /** @param snapshot to be served meanwhile */
  #begin(snapshot: Snapshot): void {
    const { clock } = this.#options;
    const hold: Hold = {
      snapshot,
      sinceMs: clock.monotonicMs(),
      over: new AbortController(),
      timer: clock.startTimer(LONGEST_HOLD_MS, () => this.#end(hold)),
    };
    this.#hold = hold;
    void this.#prepareLatest(hold).finally(() => this.#end(hold));
  }

  /** Those that are published meanwhile, too: each is served once it is ready, however fast the next ones follow. */
  async #prepareLatest(hold: Hold): Promise<void> {
    const { signal } = hold.over;
    const { latest, prepare, onFailure } = this.#options;
    try {
      for (let prepared: Snapshot | undefined; prepared !== latest() && !signal.aborted; ) {
        prepared = latest();
        await prepare(prepared, signal);
        hold.snapshot = prepared; // which nobody asks for any more where the hold is over
      }
    } catch (error) {
      if (!signal.aborted) onFailure(error);
    }
  }

  #end(hold: Hold | undefined): void {
    if (!hold || this.#hold !== hold) return;
    const nowMs = this.#options.clock.monotonicMs();
    this.#restsUntilMs = nowMs + REST_FACTOR * (nowMs - hold.sinceMs);
    this.#hold = undefined;
    hold.timer[Symbol.dispose]();
    hold.over.abort(new Error('the next snapshot is served'));
  }
}
