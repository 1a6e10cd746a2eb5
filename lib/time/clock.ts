import { onAbort } from './abort-signal.ts';

/**
 * Source of time: the wall clock for published timestamps (it may be stepped), the monotonic clock for ages,
 * deadlines and intervals.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;

  /** Milliseconds since an arbitrary moment; never decreases. */
  monotonicMs(): number;

  /** @throws the signal's reason, as soon as it aborts */
  sleep(durationMs: number, options?: { readonly signal?: AbortSignal }): Promise<void>;

  /** Calls back after a duration, unless disposed first. */
  startTimer(durationMs: number, callback: () => void): Disposable;
}

/** 24.8 days; Node fires longer timers at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

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
  if (durationMs <= MAX_TIMER_MS) return setTimeout(callback, durationMs);
  let rest: Disposable = setTimeout(() => {
    rest = startTimer(durationMs - MAX_TIMER_MS, callback);
  }, MAX_TIMER_MS);
  return { [Symbol.dispose]: () => rest[Symbol.dispose]() };
}
