/** Lets a bounded number of holders in at once, the others in the order in which they came. */
export class Semaphore {
  readonly #limit: number;
  #held = 0;
  readonly #waiting = new Set<() => void>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether anybody waits for a permit. */
  get isExhausted(): boolean {
    return this.#waiting.size > 0;
  }

  /**
   * Waits for a permit.
   *
   * @returns the permit; dispose it to let the next in
   * @throws the signal's reason when it aborts first
   */
  async acquire(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#held >= this.#limit) await this.#wait(signal);
    else this.#held++;
    let isReleased = false;
    return {
      [Symbol.dispose]: () => {
        if (!isReleased) this.#release();
        isReleased = true;
      },
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.delete(admit);
        reject(signal.reason);
      };
      const admit = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(admit);
    });
  }

  /** The permit passes straight to the longest waiting, so that a newcomer can't take it in between. */
  #release(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#held--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
