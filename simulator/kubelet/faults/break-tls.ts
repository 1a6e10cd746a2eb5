import type { Fault } from './fault.ts';

/** Responds to the TLS greeting with something that is no TLS, as a plain HTTP server on that port would. */
export const breakTls: Fault = {
  takeConnection: (socket) => {
    socket.once('data', () => socket.end('HTTP/1.0 400 Bad Request\r\n\r\n'));
  },
};
