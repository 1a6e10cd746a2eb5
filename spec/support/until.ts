import type { ManualClock } from './manual-clock.ts';
import { WaitTimeout } from './wait-timeout.ts';

/**
 * Yields to sockets, without advancing the clock, until the condition holds.
 *
 * @throws if it never does, so that a broken spec ends
 */
export async function until(clock: ManualClock, condition: () => boolean): Promise<void> {
  const timeout = new WaitTimeout();
  while (!condition()) {
    if (timeout.isOver()) throw new Error(`never true: ${condition}`);
    await timeout.untilNextCheck();
    await clock.advance(0);
  }
}
