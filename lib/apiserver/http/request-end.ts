import type { ServerResponse } from 'node:http';

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
