/** Less than the runner gives a spec, so that a failure names what was waited for. */
const PATIENCE_MS = 90_000;

/** What passes between two looks counts for no more than this: a process that stood still has not waited. */
const MOST_BETWEEN_LOOKS_MS = 1_000;

/** How long a spec waits for what is to come by itself. */
export class Patience {
  #waitedMs = 0;
  #lookedAtMs = performance.now();

  /** To be looked at again and again while it waits. */
  isOver(): boolean {
    const nowMs = performance.now();
    this.#waitedMs += Math.min(nowMs - this.#lookedAtMs, MOST_BETWEEN_LOOKS_MS);
    this.#lookedAtMs = nowMs;
    return this.#waitedMs > PATIENCE_MS;
  }
}
