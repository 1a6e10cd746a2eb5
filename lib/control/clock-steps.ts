import type { Clock } from '#lib/time/clock.ts';
import type { Watched } from './controller.ts';

const CHECK_INTERVAL_MS = 5000;
/** Smaller differences are drift between the clocks. */
const STEP_MS = 500;

/**
 * Reconciles all keys when the wall clock was stepped: timers run by the monotonic clock, so their wall-clock times
 * have changed.
 */
export function clockSteps(clock: Clock, keys: () => Iterable<string>): Watched {
  return {
    synced: async () => {},
    onChange: (listener) => {
      let offsetMs = clock.nowMs() - clock.monotonicMs();
      const check = () => {
        timer = clock.startTimer(CHECK_INTERVAL_MS, check);
        const nowOffsetMs = clock.nowMs() - clock.monotonicMs();
        if (Math.abs(nowOffsetMs - offsetMs) < STEP_MS) return;
        offsetMs = nowOffsetMs;
        for (const key of keys()) listener({ key });
      };
      let timer = clock.startTimer(CHECK_INTERVAL_MS, check);
      return () => timer[Symbol.dispose]();
    },
  };
}
