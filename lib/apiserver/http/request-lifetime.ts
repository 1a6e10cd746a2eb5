import type { ServerResponse } from 'node:http';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { timedOut } from './status-error.ts';

/** Never sent. Shared, since creating an error takes as long as much of a request does. */
const OVER = timedOut();

/**
 * Deadline of a request. Most are served at once and never start the timer: it runs from the first use of the signal.
 */
export class RequestDeadline implements Disposable {
  readonly #clock: Clock;
  readonly #durationMs: number;
  #running: { readonly expiry: AbortController; readonly timer: Disposable | undefined } | undefined;
  #isOver = false;

  constructor(clock: Clock, durationMs: number) {
    this.#clock = clock;
    this.#durationMs = durationMs;
  }

  /** Aborts when the deadline passes or the request is over. */
  get signal(): AbortSignal {
    this.#running ??= this.#start();
    return this.#running.expiry.signal;
  }

  /**
   * Waits for a result, if it is a promise.
   *
   * @throws {StatusError} 504 when the deadline passes first
   */
  async wait<T>(result: T | Promise<T>): Promise<T> {
    return result instanceof Promise ? await raceAbort(result, this.signal) : result;
  }

  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#running?.timer?.[Symbol.dispose]();
    this.#running?.expiry.abort(OVER);
  }

  #start(): { readonly expiry: AbortController; readonly timer: Disposable | undefined } {
    const expiry = new AbortController();
    if (this.#isOver) {
      expiry.abort(OVER);
      return { expiry, timer: undefined };
    }
    return { expiry, timer: this.#clock.startTimer(this.#durationMs, () => expiry.abort(timedOut())) };
  }
}

/**
 * End of a request: the response has been sent, or the client has left. A client may leave at any moment, so a listener
 * that is added late is called at once.
 */
export class RequestEnd {
  #isOver = false;
  readonly #listeners: (() => void)[] = [];

  /** Create it before anything is awaited. */
  constructor(response: Pick<ServerResponse, 'once'>) {
    response.once('close', () => {
      this.#isOver = true;
      for (const listener of this.#listeners) listener();
    });
  }

  /** Calls the listener once, when the request is over; immediately, if it is. */
  whenOver(listener: () => void): void {
    if (this.#isOver) listener();
    else this.#listeners.push(listener);
  }
}
