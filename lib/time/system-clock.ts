import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from './clock.ts';

/** A longer timer than this, of 24.8 days, fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's own clocks. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: async (durationMs, { signal } = {}) => {
    const options = signal ? { signal } : {};
    try {
      let leftMs = durationMs;
      for (; leftMs > LONGEST_TIMER_MS; leftMs -= LONGEST_TIMER_MS)
        await sleep(LONGEST_TIMER_MS, undefined, options);
      await sleep(leftMs, undefined, options);
    } catch (error) {
      signal?.throwIfAborted(); // the caller's own reason, not node's AbortError around it
      throw error;
    }
  },
};
