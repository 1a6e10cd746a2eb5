import { onAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { FairQueue } from './fair-queue.ts';
import { currentTenant } from './tenant.ts';

/** As many objects as are made, or encoded, in a time slice of some milliseconds. */
export const OBJECTS_PER_SLICE = 500;

/**
 * The time slices that long work of one server is cut into, so that short requests are served in between: who deals
 * with many objects counts them here, and yields when the slice is spent.
 */
export class TimeSlices {
  /** Dealt with since the slice began, by all together. */
  #objects = 0;
  /** Who has yielded, the first to come first. */
  readonly #waiting: (() => void)[] = [];
  /** Ends when no long work is under way. */
  #longWork: Promise<void> = Promise.resolve();

  /** Counts objects that were dealt with; says whether it is time to {@link yieldToEventLoop}. */
  isSliceSpent(dealtWith = 1): boolean {
    this.#objects += dealtWith;
    return this.#objects >= OBJECTS_PER_SLICE;
  }

  /**
   * Lets the event loop go on, and comes back in a slice of its own: of all who yield, one continues at a time, so that
   * many of them delay others no longer than one does.
   *
   * @throws the signal's reason when it has aborted by then
   */
  async yieldToEventLoop(signal?: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) setImmediate(this.#beginSlice);
    });
    signal?.throwIfAborted();
  }

  /**
   * Does work of many slices after all such work that came before: what is half made takes as much memory as the whole.
   *
   * @throws the signal's reason when it has aborted before the work begins
   */
  runExclusively<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const result = this.#longWork.then(() => {
      signal?.throwIfAborted();
      return work();
    });
    this.#longWork = result.then(
      () => {},
      () => {}, // the caller hears of it
    );
    return result;
  }

  readonly #beginSlice = () => {
    this.#objects = 0;
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(this.#beginSlice);
  };
}

/** What is shorter delays nobody, and is followed by the next at once. */
const SHORT_MS = 2;
/** Others have the event loop for as long as one has held it, but for no longer than this. */
const MAX_PAUSE_MS = 500;

/** Lets work that holds the event loop have no more than half of it, one piece at a time, round robin by tenants. */
export class FairShare {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'startTimer'>;
  readonly #waiting = new FairQueue<() => void>();
  #isBusy = false;

  constructor(clock: Pick<Clock, 'monotonicMs' | 'startTimer'>) {
    this.#clock = clock;
  }

  /**
   * Waits for a piece of the event loop, which lasts until it is let go. Between two pieces of the current tenant, every other
   * tenant that waits has one.
   *
   * @throws the signal's reason when it aborts first
   */
  async next(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    using _aborted = onAbort(signal, () => reject(signal.reason));
    this.#waiting.push(currentTenant() ?? '', resolve);
    if (!this.#isBusy) this.#startNext();
    await promise;
    signal.throwIfAborted();
  }

  #startNext(): void {
    const next = this.#waiting.shift();
    this.#isBusy = next !== undefined;
    if (next) setImmediate(() => this.#run(next));
  }

  #run(next: () => void): void {
    const startMs = this.#clock.monotonicMs();
    next();
    setImmediate(() => {
      const tookMs = this.#clock.monotonicMs() - startMs;
      if (tookMs <= SHORT_MS) this.#startNext();
      else this.#clock.startTimer(Math.min(tookMs, MAX_PAUSE_MS), () => this.#startNext());
    });
  }
}
