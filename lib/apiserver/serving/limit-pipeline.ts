import type { Socket } from 'node:net';

/** So many requests of one HTTP/1.1 connection may wait for their responses; clients that pipeline at all send a few. */
const MAX_PIPELINED = 100;

/**
 * Cuts off connections on which too many requests wait behind one another: Node makes a request of all that has come, however
 * many responses are still to be written.
 */
export class PipelineLimit {
  readonly #underWay = new WeakMap<Socket, number>();
  readonly #onExceeded: () => void;

  constructor(onExceeded: () => void) {
    this.#onExceeded = onExceeded;
  }

  /** @returns whether the request is to be served; `leave` is to follow once nobody waits for its response any more */
  enter(socket: Socket): boolean {
    if (socket.destroyed) return false; // the rest of what came in one packet
    const count = (this.#underWay.get(socket) ?? 0) + 1;
    if (count > MAX_PIPELINED) {
      this.#onExceeded();
      socket.destroy();
      return false;
    }
    this.#underWay.set(socket, count);
    return true;
  }

  leave(socket: Socket): void {
    this.#underWay.set(socket, (this.#underWay.get(socket) ?? 1) - 1);
  }
}
