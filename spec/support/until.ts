import type { ManualClock } from './manual-clock.ts';

const LONGEST_WAIT_MS = 90_000;

/**
 * Lets sockets proceed, while the manual clock stands still, until the condition holds.
 *
 * @throws when it never does, so that a broken spec ends
 */
export async function until(clock: ManualClock, condition: () => boolean): Promise<void> {
  const startedAtMs = performance.now();
  while (!condition()) {
    if (performance.now() - startedAtMs > LONGEST_WAIT_MS) throw new Error(`never true: ${condition}`);
    await clock.advance(0);
  }
}
