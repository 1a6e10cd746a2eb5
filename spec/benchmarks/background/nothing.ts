import { setTimeout as sleep } from 'node:timers/promises';
import type { BackgroundLoad } from './background-load.ts';

/** Scraping only, as a baseline for the other loads. */
export const NO_LOAD: BackgroundLoad = {
  name: 'idle',
  what: 'nothing else',
  prepare: async () => ({
    run: async (forMs) => {
      await sleep(forMs);
      return { requests: 0, latenciesMs: [] };
    },
    [Symbol.asyncDispose]: async () => {},
  }),
};
