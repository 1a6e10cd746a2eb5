import type { Schedule } from './schedule.ts';

/**
 * A schedule that need not search again for what it found last: the next activation of an object is asked for at each look at it, and
 * mostly it is still the same.
 */
export function remembering(schedule: Schedule): Schedule {
  let [fromMs, nextMs] = [0, Number.NEGATIVE_INFINITY];
  let [previousMs, untilMs] = [Number.POSITIVE_INFINITY, 0];
  return {
    next(afterMs) {
      if (fromMs <= afterMs && afterMs < nextMs) return nextMs;
      const foundMs = schedule.next(afterMs);
      if (foundMs !== undefined) [fromMs, nextMs] = [afterMs, foundMs];
      return foundMs;
    },
    previous(beforeMs) {
      if (previousMs < beforeMs && beforeMs <= untilMs) return previousMs;
      const foundMs = schedule.previous(beforeMs);
      if (foundMs !== undefined) [previousMs, untilMs] = [foundMs, beforeMs];
      return foundMs;
    },
    delayMs: (atMs) => schedule.delayMs(atMs),
  };
}
