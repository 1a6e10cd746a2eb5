import type { Fault } from './fault.ts';

/** Sends headers and then nothing. */
export const stall: Fault = {
  deliver: async ({ status, headers }, response) => {
    response.writeHead(status, headers);
    response.flushHeaders();
  },
};
