import { onAbort } from './abort-signal.ts';

/**
 * Where a component gets its time from: the wall clock, which may be stepped, for stamps that others
 * read; the monotonic one for ages, deadlines and intervals.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;

  /** Milliseconds since an arbitrary moment; never falls, whatever happens to the wall clock. */
  monotonicMs(): number;

  /**
   * Waits.
   *
   * @throws the signal's reason, at once, when it is or becomes aborted.
   */
  sleep(durationMs: number, options?: { readonly signal?: AbortSignal }): Promise<void>;

  /** Calls back after a while, unless disposed of before. */
  startTimer(durationMs: number, callback: () => void): Disposable;
}

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
