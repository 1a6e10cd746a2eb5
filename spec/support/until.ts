import type { ManualClock } from './manual-clock.ts';
import { Patience } from './patience.ts';

/**
 * Yields to sockets, without advancing the clock, until the condition holds.
 *
 * @throws if it never does, so that a broken spec ends
 */
export async function until(clock: ManualClock, condition: () => boolean): Promise<void> {
  const patience = new Patience();
  while (!condition()) {
    if (patience.isOver()) throw new Error(`never true: ${condition}`);
    await patience.untilNextLook();
    await clock.advance(0);
  }
}
