import { onAbort } from './abort-signal.ts';
import type { Clock } from './clock.ts';

/** A longer timer than this, of 24.8 days, fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's own clocks. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (durationMs, { signal } = {}) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = startTimer(durationMs, () => {
        aborted[Symbol.dispose]();
        resolve();
      });
      const aborted = onAbort(signal, () => {
        timer[Symbol.dispose]();
        reject(signal?.reason);
      });
    }),
  startTimer,
};

function startTimer(durationMs: number, callback: () => void): Disposable {
  if (durationMs <= LONGEST_TIMER_MS) return setTimeout(callback, durationMs);
  let rest: Disposable = setTimeout(() => {
    rest = startTimer(durationMs - LONGEST_TIMER_MS, callback);
  }, LONGEST_TIMER_MS);
  return { [Symbol.dispose]: () => rest[Symbol.dispose]() };
}
