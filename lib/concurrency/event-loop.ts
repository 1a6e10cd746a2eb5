import { onAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { FairQueue } from './fair-queue.ts';
import { currentTenant, runForTenant } from './tenant.ts';

/** Number of objects that are created or encoded in a time slice of a few milliseconds. */
export const OBJECTS_PER_SLICE = 500;

/**
 * Divides long work of one server into time slices, so that short requests are served in between. Code that processes
 * many objects counts them here and yields when the slice is spent.
 */
export class TimeSlices {
  /** Processed in the current slice by all callers. */
  #objects = 0;
  /** Callers that have yielded, in order. */
  readonly #waiting: (() => void)[] = [];
  /** Settles when no exclusive work is running. */
  #longWork: Promise<void> = Promise.resolve();

  /** Counts processed objects. @returns whether the caller should {@link yieldToEventLoop} */
  isSliceSpent(processed = 1): boolean {
    this.#objects += processed;
    return this.#objects >= OBJECTS_PER_SLICE;
  }

  /**
   * Yields to the event loop and continues in a new slice. Only one yielding caller continues per turn of the event
   * loop, so many of them delay other work no longer than one does.
   *
   * @throws the signal's reason if it has aborted meanwhile
   */
  async yieldToEventLoop(signal?: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) setImmediate(this.#beginSlice);
    });
    signal?.throwIfAborted();
  }

  /**
   * Runs work of many slices after all earlier exclusive work: several unfinished results would take as much memory as
   * finished ones.
   *
   * @throws the signal's reason if it aborts before the work begins
   */
  runExclusively<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const result = this.#longWork.then(() => {
      signal?.throwIfAborted();
      return work();
    });
    this.#longWork = result.then(
      () => {},
      () => {}, // the caller receives the error
    );
    return result;
  }

  readonly #beginSlice = () => {
    this.#objects = 0;
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(this.#beginSlice);
  };
}

/** Shorter work delays no other, and is followed by the next piece without a pause. */
const SHORT_MS = 2;
/** Maximum pause after a piece of work; the pause is otherwise as long as the work. */
const MAX_PAUSE_MS = 500;

/** Work that can pause: it yields after each step, which is synchronous and short. */
export type Steps<Result> = Generator<void, Result, void>;

/** Runs all steps of a work without a pause. */
export function runAllSteps<Result>(work: Steps<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** A piece of work that waits for its turn. */
interface Piece {
  readonly start: () => void;
  /** Whether the work is done when `start` returns; otherwise it continues in the same iteration of the event loop. */
  readonly isSynchronous: boolean;
}

/** Limits blocking work to half of the event loop: one piece at a time, round robin by tenants. */
export class EventLoopShare {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'startTimer'>;
  readonly #waiting = new FairQueue<Piece>();
  #isBusy = false;

  constructor(clock: Pick<Clock, 'monotonicMs' | 'startTimer'>) {
    this.#clock = clock;
  }

  /**
   * Waits for the turn of the current tenant; the work that follows must be synchronous. Between two turns of a tenant,
   * every other waiting tenant has one.
   *
   * @throws the signal's reason if it aborts first
   */
  async next(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    using _aborted = onAbort(signal, () => reject(signal.reason));
    this.#add(currentTenant() ?? '', { start: resolve, isSynchronous: false });
    await promise;
    signal.throwIfAborted();
  }

  /**
   * Runs work in pieces of a few milliseconds, each at the turn of a tenant. The steps send no requests, so they do not
   * run as work of {@link currentTenant}.
   *
   * @throws errors of the work; the signal's reason if it aborts first
   */
  async runSteps<Result>(
    work: Steps<Result>,
    { tenant, signal }: { readonly tenant: string; readonly signal: AbortSignal },
  ): Promise<Result> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    using _aborted = onAbort(signal, () => reject(signal.reason));
    const runPiece = () => {
      if (signal.aborted) return;
      const startMs = this.#clock.monotonicMs();
      try {
        do {
          const { done, value } = work.next();
          if (done) return resolve(value);
        } while (this.#clock.monotonicMs() - startMs <= SHORT_MS);
      } catch (error) {
        return reject(error);
      }
      this.#add(tenant, piece);
    };
    const piece: Piece = { start: runPiece, isSynchronous: true };
    this.#add(tenant, piece);
    return await promise;
  }

  /** Runs synchronous work for a tenant at its turn, as {@link next}; short pieces share a time slice. */
  schedule(tenant: string | undefined, work: () => void): void {
    this.#add(tenant ?? '', { start: () => runForTenant(tenant, work), isSynchronous: true });
  }

  #add(tenant: string, piece: Piece): void {
    this.#waiting.push(tenant, piece);
    if (!this.#isBusy) this.#startNext();
  }

  #startNext(): void {
    const next = this.#waiting.shift();
    this.#isBusy = next !== undefined;
    if (next) setImmediate(() => this.#run(next));
  }

  #run(first: Piece): void {
    const startMs = this.#clock.monotonicMs();
    let doneMs: number | undefined;
    for (let piece: Piece | undefined = first; piece; piece = this.#waiting.shift()) {
      piece.start();
      doneMs = piece.isSynchronous ? this.#clock.monotonicMs() : undefined;
      if (doneMs === undefined || doneMs - startMs > SHORT_MS) break;
    }
    setImmediate(() => {
      const tookMs = (doneMs ?? this.#clock.monotonicMs()) - startMs;
      if (tookMs <= SHORT_MS) this.#startNext();
      else this.#clock.startTimer(Math.min(tookMs, MAX_PAUSE_MS), () => this.#startNext());
    });
  }
}
