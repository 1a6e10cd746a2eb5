import type { Fault } from './fault.ts';

/** The right answer, late. */
export function delay(durationMs: number): Fault {
  return {
    deliver: async (answer, _response, { clock, signal, next }) => {
      await clock.sleep(durationMs, { signal });
      await next(answer);
    },
  };
}
