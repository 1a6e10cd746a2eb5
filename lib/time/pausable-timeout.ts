import { onAbort } from './abort-signal.ts';
import type { Clock } from './clock.ts';

interface PausableTimeoutOptions {
  readonly clock: Clock;
  readonly durationMs: number;
  readonly signal: AbortSignal;
  /** Creates the abort reason when the time is over. */
  readonly expired: () => Error;
}

/** A timeout that pauses while a request waits for this process, so that only the peer's time counts. */
export class PausableTimeout implements Disposable {
  readonly #clock: Clock;
  readonly #expired: () => Error;
  readonly #own = new AbortController();
  readonly #parent: Disposable;
  #leftMs: number;
  #startedAtMs = 0;
  #timer: Disposable | undefined;
  #isOver = false;

  constructor({ clock, durationMs, signal, expired }: PausableTimeoutOptions) {
    this.#clock = clock;
    this.#expired = expired;
    this.#leftMs = durationMs;
    this.#parent = onAbort(signal, () => this.#own.abort(signal.reason));
    this.#run();
  }

  /** Aborts when the time is over or with its parent; never after disposal. */
  get signal(): AbortSignal {
    return this.#own.signal;
  }

  /** Pauses the timeout until the result is disposed. */
  pause(): Disposable {
    this.#timer?.[Symbol.dispose]();
    this.#leftMs -= this.#clock.monotonicMs() - this.#startedAtMs;
    return {
      [Symbol.dispose]: () => {
        if (!this.#isOver) this.#run();
      },
    };
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#timer?.[Symbol.dispose]();
    this.#parent[Symbol.dispose]();
  }

  #run(): void {
    this.#startedAtMs = this.#clock.monotonicMs();
    this.#timer = startTimerAfterIo(this.#clock, Math.max(this.#leftMs, 1), () =>
      this.#own.abort(this.#expired()),
    );
  }
}

/**
 * Calls back after a duration, once pending input has been read, unless disposed first.
 *
 * Node's event loop runs timers before it polls sockets: a late loop would expire a timeout although the response is
 * already in the socket.
 */
export function startTimerAfterIo(
  clock: Pick<Clock, 'startTimer'>,
  durationMs: number,
  callback: () => void,
): Disposable {
  let immediate: NodeJS.Immediate | undefined;
  const timer = clock.startTimer(durationMs, () => {
    immediate = setImmediate(callback);
  });
  return {
    [Symbol.dispose]: () => {
      timer[Symbol.dispose]();
      clearImmediate(immediate);
    },
  };
}
