import { onAbort } from './abort-signal.ts';
import type { Clock } from './clock.ts';

/** What bounds a request, and who else can end it. */
interface PatientDeadlineOptions {
  readonly clock: Clock;
  readonly durationMs: number;
  readonly signal: AbortSignal;
  /** Makes the reason with which the signal aborts once the time is over. */
  readonly expired: () => Error;
}

/** A deadline that does not run while a request waits for something of our own: that is not to be held against the kubelet. */
export class PatientDeadline implements Disposable {
  readonly #clock: Clock;
  readonly #expired: () => Error;
  readonly #own = new AbortController();
  readonly #parent: Disposable;
  #leftMs: number;
  #startedAtMs = 0;
  #timer: Disposable | undefined;
  #isOver = false;

  constructor({ clock, durationMs, signal, expired }: PatientDeadlineOptions) {
    this.#clock = clock;
    this.#expired = expired;
    this.#leftMs = durationMs;
    this.#parent = onAbort(signal, () => this.#own.abort(signal.reason));
    this.#run();
  }

  /** Aborts when the time is over, or when its parent does; never after it was disposed of. */
  get signal(): AbortSignal {
    return this.#own.signal;
  }

  /** Stops the clock until what is returned is disposed of. */
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
    this.#timer = startPatientTimer(this.#clock, Math.max(this.#leftMs, 1), () =>
      this.#own.abort(this.#expired()),
    );
  }
}

/**
 * Calls back when a time is over and all has been read that had arrived by then, unless disposed of before.
 *
 * Timers come before sockets in Node's event loop: where that is late, they would find a response missing that lies in the
 * socket already.
 */
export function startPatientTimer(
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
