import type { Fault } from './fault.ts';

/** The response as it should be, late. */
export function delay(durationMs: number): Fault {
  return {
    deliver: async (reply, _response, { clock, signal, next }) => {
      await clock.sleep(durationMs, { signal });
      await next(reply);
    },
  };
}
