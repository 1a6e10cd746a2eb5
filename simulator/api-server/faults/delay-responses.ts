import type { ApiFault } from './api-fault.ts';

/** The response as it should be, late. */
export function delayResponses(durationMs: number): ApiFault {
  return {
    serve: async ({ signal }, { clock, next }) => {
      await clock.sleep(durationMs, { signal });
      await next();
    },
  };
}
