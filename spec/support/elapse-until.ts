import type { ManualClock } from './manual-clock.ts';
import { Patience } from './patience.ts';

/** Advances the clock step by step, running all that is due at each, until a condition holds. */
export async function elapseUntil(
  clock: ManualClock,
  stepMs: number,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const patience = new Patience();
  do {
    if (patience.isOver()) throw new Error(`It never held, though time passed: ${holds}`);
    await clock.advance(stepMs);
  } while (!(await holds()));
}
