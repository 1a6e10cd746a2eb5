import type { ApiFault } from './api-fault.ts';

/** The right answer, late. */
export function delayAnswers(durationMs: number): ApiFault {
  return {
    serve: async ({ signal }, { clock, next }) => {
      await clock.sleep(durationMs, { signal });
      await next();
    },
  };
}
