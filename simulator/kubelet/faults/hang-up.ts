import type { Fault } from './fault.ts';

/** Ends the connection as soon as the caller has said something, in the middle of the TLS handshake. */
export const hangUp: Fault = {
  takeConnection: (socket) => {
    socket.once('data', () => socket.destroy());
  },
};
