import type { Clock } from '#lib/time/clock.ts';

/**
 * Calls back when a time is over and all has been read that had arrived by then, unless disposed of before.
 *
 * Timers come before sockets in Node's event loop: where that is late, they would find a response missing that lies in the
 * socket already.
 */
export function startPatientTimer(
  clock: Pick<Clock, 'startTimer'>,
  durationMs: number,
  callback: () => void,
): Disposable {
  let immediate: NodeJS.Immediate | undefined;
  const timer = clock.startTimer(durationMs, () => {
    immediate = setImmediate(callback);
  });
  return {
    [Symbol.dispose]: () => {
      timer[Symbol.dispose]();
      clearImmediate(immediate);
    },
  };
}
