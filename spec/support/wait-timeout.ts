import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';

/** Shorter than mocha's timeout, so that a failure names the condition. */
const TIMEOUT_MS = 90_000;

/** The maximum time that counts between two checks: a suspended process has not waited. */
const MAX_POLL_INTERVAL_MS = 1_000;

/** Share of the elapsed time that passes until the next check, so that checks without a result cost little. */
const PAUSE_SHARE = 1 / 20;
const MAX_PAUSE_MS = 20;

/** The timeout of a spec for something that happens by itself. */
export class WaitTimeout {
  #waitedMs = 0;
  #checkedAtMs = performance.now();

  /** Whether the timeout has passed; only time between frequent checks counts. */
  isOver(): boolean {
    const nowMs = performance.now();
    this.#waitedMs += Math.min(nowMs - this.#checkedAtMs, MAX_POLL_INTERVAL_MS);
    this.#checkedAtMs = nowMs;
    return this.#waitedMs > TIMEOUT_MS;
  }

  /** Waits until the next check is due; the event loop runs meanwhile. */
  async untilNextCheck(): Promise<void> {
    const pauseMs = Math.min(this.#waitedMs * PAUSE_SHARE, MAX_PAUSE_MS);
    await (pauseMs < 1 ? nextIteration() : sleep(pauseMs)); // most conditions need few iterations
  }
}
