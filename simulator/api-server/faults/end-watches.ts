import type { ApiFault } from './api-fault.ts';

/** Ends every watch after a while, as load balancers do. */
export function endWatches(afterMs: number): ApiFault {
  return {
    serve: async ({ verb, response, signal }, { clock, next }) => {
      if (verb === 'watch') {
        clock.sleep(afterMs, { signal }).then(
          () => response.end(),
          () => {}, // it ended before
        );
      }
      await next();
    },
  };
}
