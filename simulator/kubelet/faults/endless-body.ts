import { once } from 'node:events';
import type { Fault } from './fault.ts';

const CHUNK = Buffer.alloc(64 * 1024, ' ');

/** Goes on with white space, which JSON allows, for as long as the caller reads. */
export const endlessBody: Fault = {
  deliver: async ({ status, headers }, response, { signal }) => {
    response.writeHead(status, headers);
    while (!signal.aborted) {
      if (!response.write(CHUNK)) await once(response, 'drain', { signal });
    }
  },
};
