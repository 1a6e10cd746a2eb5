import type { ServerResponse } from 'node:http';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { timedOut } from './status-error.ts';

/** Nobody hears it; made once, for an error takes as long to make as much of a request does. */
const OVER = timedOut();

/**
 * How long a request may take. Most are served at once and never start the timer: it runs from when the signal
 * is first asked for.
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

  /** Aborts when the time is up or the request is over. */
  get signal(): AbortSignal {
    this.#running ??= this.#start();
    return this.#running.expiry.signal;
  }

  /**
   * Waits for a result, where it is not there yet.
   *
   * @throws {StatusError} 504 when the time is up first
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
 * Tells when nobody waits for a response any more: it has left, or its client has gone. A client may go at any
 * moment, so that who asks late is told at once.
 */
export class RequestEnd {
  #isOver = false;
  readonly #listeners: (() => void)[] = [];

  /** To be made before anything is waited for. */
  constructor(response: Pick<ServerResponse, 'once'>) {
    response.once('close', () => {
      this.#isOver = true;
      for (const listener of this.#listeners) listener();
    });
  }

  /** Calls the listener once, when the request is over; now, if it is. */
  whenOver(listener: () => void): void {
    if (this.#isOver) listener();
    else this.#listeners.push(listener);
  }
}
