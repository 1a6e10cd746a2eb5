import { EventLoopShare } from '#lib/concurrency/event-loop.ts';

/** An event loop share whose clock advances 10 ms per step, so that each step runs in its own iteration. */
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
