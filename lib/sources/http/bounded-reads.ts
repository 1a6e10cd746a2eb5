import type { Socket } from 'node:net';

/** How much may still come over a connection for the request under way. */
export interface WireBound {
  leftBytes: number;
}

/** undici makes an error of each header that is too many, as long as a piece lasts: of those in 4 KiB. */
const PIECE_BYTES = 4 * 1024;

/**
 * Hands out what has come over a socket in small pieces, and breaks it where there is more than may come: what frames a
 * body, its headers and the extensions of its chunks, counts in no bound of undici's.
 */
export function boundReads(socket: Socket, bound: WireBound): Socket {
  const read = socket.read.bind(socket);
  socket.read = (asked?: number) => {
    if (asked !== undefined) return read(asked); // Node itself, which has more come by asking for nothing
    if (socket.destroyed) return null;
    const size = Math.min(socket.readableLength, PIECE_BYTES);
    const piece: Buffer | null = size === 0 ? read() : read(size);
    bound.leftBytes -= piece?.length ?? 0;
    if (bound.leftBytes >= 0) return piece;
    socket.destroy(new Error('the response takes more than twice what it may have'));
    return null;
  };
  return socket;
}
