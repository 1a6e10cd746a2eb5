import type { ManualClock } from './manual-clock.ts';
import { WaitTimeout } from './wait-timeout.ts';

/** Advances the clock step by step, running all that is due at each, until a condition holds. */
export async function elapseUntil(
  clock: ManualClock,
  stepMs: number,
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  const timeout = new WaitTimeout();
  do {
    if (timeout.isOver()) throw new Error(`Never true, though time passed: ${condition}`);
    await clock.advance(stepMs);
  } while (!(await condition()));
}
