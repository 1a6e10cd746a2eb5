import type { Clock } from '#lib/time/clock.ts';
import type { Watched } from './controller.ts';

const LOOK_MS = 5000;
/** Below this both clocks only drift apart. */
const STEP_MS = 500;

/**
 * Has all keys looked at again when the wall clock was stepped: timers run by the monotonic clock, and what they wait for
 * may now be nearer or farther.
 */
export function clockSteps(clock: Clock, keys: () => Iterable<string>): Watched {
  return {
    synced: async () => {},
    onChange: (listener) => {
      let offsetMs = clock.nowMs() - clock.monotonicMs();
      const look = () => {
        timer = clock.startTimer(LOOK_MS, look);
        const nowOffsetMs = clock.nowMs() - clock.monotonicMs();
        if (Math.abs(nowOffsetMs - offsetMs) < STEP_MS) return;
        offsetMs = nowOffsetMs;
        for (const key of keys()) listener({ key });
      };
      let timer = clock.startTimer(LOOK_MS, look);
      return () => timer[Symbol.dispose]();
    },
  };
}
