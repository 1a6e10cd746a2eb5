import { EventLoopShare } from '#lib/concurrency/event-loop.ts';

/** A share by whose clock each step takes 10 ms, so that each has a turn of the event loop of its own. */
export function shareOfSlowSteps(): EventLoopShare {
  let nowMs = 0;
  const monotonicMs = () => {
    nowMs += 10;
    return nowMs;
  };
  const startTimer = (_: number, callback: () => void) => {
    const timer = setImmediate(callback);
    return { [Symbol.dispose]: () => clearImmediate(timer) };
  };
  return new EventLoopShare({ monotonicMs, startTimer });
}
