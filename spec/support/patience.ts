import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';

/** Less than the runner gives a spec, so that a failure names what was waited for. */
const PATIENCE_MS = 90_000;

/** What passes between two looks counts for no more than this: a process that stood still has not waited. */
const MAX_POLL_INTERVAL_MS = 1_000;

/** Which part of the time that it has waited passes until the next look, so that looks which find nothing cost little. */
const PAUSE_SHARE = 1 / 20;
const MAX_PAUSE_MS = 20;

/** How long a spec waits for what is to come by itself. */
export class Patience {
  #waitedMs = 0;
  #lookedAtMs = performance.now();

  /** To be looked at again and again while it waits. */
  isOver(): boolean {
    const nowMs = performance.now();
    this.#waitedMs += Math.min(nowMs - this.#lookedAtMs, MAX_POLL_INTERVAL_MS);
    this.#lookedAtMs = nowMs;
    return this.#waitedMs > PATIENCE_MS;
  }

  /** Lets the event loop go on. */
  async untilNextLook(): Promise<void> {
    const pauseMs = Math.min(this.#waitedMs * PAUSE_SHARE, MAX_PAUSE_MS);
    await (pauseMs < 1 ? nextIteration() : sleep(pauseMs)); // most things take few iterations
  }
}
