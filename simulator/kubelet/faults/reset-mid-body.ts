import { once } from 'node:events';
import type { Fault } from './fault.ts';

/** Sends half of the body and then resets the connection. */
export const resetMidBody: Fault = {
  deliver: async ({ status, headers, body }, response, { signal, resetConnection }) => {
    response.writeHead(status, { ...headers, 'Content-Length': body.length });
    if (!response.write(body.subarray(0, Math.floor(body.length / 2)))) {
      await once(response, 'drain', { signal });
    }
    resetConnection();
  },
};
