import type { Fault } from './fault.ts';

/** Accepts the connection and says nothing: not even TLS begins. */
export const hang: Fault = {
  takeConnection: (socket) => {
    socket.resume();
  },
};
