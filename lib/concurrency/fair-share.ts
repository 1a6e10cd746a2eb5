import type { Clock } from '#lib/time/clock.ts';

/** What is shorter delays nobody, and is followed by the next at once. */
const SHORT_MS = 2;
/** Others have the event loop for as long as one has held it, but for no longer than this. */
const MAX_PAUSE_MS = 500;

/** Lets work that holds the event loop have no more than half of it, one piece at a time. */
export class FairShare {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'startTimer'>;
  /** The first to come first. */
  readonly #waiting: (() => void)[] = [];
  #isBusy = false;

  constructor(clock: Pick<Clock, 'monotonicMs' | 'startTimer'>) {
    this.#clock = clock;
  }

  /**
   * Waits for a piece of the event loop, which lasts until it is let go.
   *
   * @throws the signal's reason when it has aborted by then
   */
  async next(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      if (!this.#isBusy) this.#goOn();
    });
    signal.throwIfAborted();
  }

  #goOn(): void {
    this.#isBusy = this.#waiting.length > 0;
    if (this.#isBusy) setImmediate(() => this.#letOneGo());
  }

  #letOneGo(): void {
    const startMs = this.#clock.monotonicMs();
    this.#waiting.shift()?.();
    setImmediate(() => {
      const tookMs = this.#clock.monotonicMs() - startMs;
      if (tookMs <= SHORT_MS) this.#goOn();
      else this.#clock.startTimer(Math.min(tookMs, MAX_PAUSE_MS), () => this.#goOn());
    });
  }
}
