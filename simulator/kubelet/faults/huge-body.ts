import { once } from 'node:events';
import type { Fault } from './fault.ts';

const CHUNK = Buffer.alloc(64 * 1024, ' ');

/** A complete response, made as long as told by white space, which JSON allows. */
export function hugeBody(bytes: number): Fault {
  return {
    deliver: async ({ status, headers }, response, { signal }) => {
      response.writeHead(status, { ...headers, 'Content-Length': bytes });
      for (let left = bytes - 2; left > 0; left -= CHUNK.length) {
        if (!response.write(CHUNK.subarray(0, left))) await once(response, 'drain', { signal });
      }
      response.end('{}');
    },
  };
}
