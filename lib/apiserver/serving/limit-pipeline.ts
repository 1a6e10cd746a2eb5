import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** So many requests of one HTTP/1.1 connection may wait for their responses; clients that pipeline at all send a few. */
const MAX_PIPELINED = 100;

const underWay = new WeakMap<Socket, number>();

/**
 * Cuts off a connection on which too many requests wait behind one another: Node makes a request of all that has come, however
 * many responses are still to be written.
 *
 * @param over settles when nobody waits for the response any more
 * @returns whether the request is to be served
 */
export function limitPipeline(
  { socket }: Pick<IncomingMessage, 'socket'>,
  { over, onExceeded }: { readonly over: Promise<void>; readonly onExceeded: () => void },
): boolean {
  if (socket.destroyed) return false; // the rest of what came in one packet
  const count = (underWay.get(socket) ?? 0) + 1;
  if (count > MAX_PIPELINED) {
    onExceeded();
    socket.destroy();
    return false;
  }
  underWay.set(socket, count);
  void over.then(() => underWay.set(socket, (underWay.get(socket) ?? 1) - 1));
  return true;
}
