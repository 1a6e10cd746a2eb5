import { setTimeout as sleep } from 'node:timers/promises';
import type { ManualClock } from './manual-clock.ts';

/** Seconds after the last timer in which requests that it started may still be in flight. */
const BUSY_SECONDS = 5;

/**
 * Advances the clock second by second. Sockets get real time only in seconds in which a timer fired and in some after it,
 * since only timers start requests while time passes.
 *
 * @param pauseMs real time for sockets in one second
 */
export async function elapseSeconds(clock: ManualClock, seconds: number, pauseMs: number): Promise<void> {
  let quietSeconds = 0;
  for (let second = 0; second < seconds; second++) {
    quietSeconds = (await clock.advance(1000)) > 0 ? 0 : quietSeconds + 1;
    if (quietSeconds < BUSY_SECONDS) await sleep(pauseMs);
  }
}
