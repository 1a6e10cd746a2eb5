import type { Fault } from './fault.ts';

/** Sends headers at once and then one byte of the body after another. */
export function drip(bytesPerSecond: number): Fault {
  return {
    deliver: async ({ status, headers, body }, response, { clock, signal }) => {
      response.writeHead(status, headers);
      response.flushHeaders();
      for (const byte of body) {
        await clock.sleep(1000 / bytesPerSecond, { signal });
        response.write(Buffer.of(byte));
      }
      response.end();
    },
  };
}
