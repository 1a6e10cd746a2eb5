/** Lets a bounded number of holders in at once, the others in the order in which they came. */
export class TurnGate {
  readonly #limit: number;
  #held = 0;
  readonly #waiting = new Set<() => void>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Waits for a turn.
   *
   * @returns the turn; dispose it to let the next in
   * @throws the signal's reason when it aborts first
   */
  async enter(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#held >= this.#limit) await this.#turn(signal);
    else this.#held++;
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (!isOver) this.#leave();
        isOver = true;
      },
    };
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.delete(enter);
        reject(signal.reason);
      };
      const enter = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(enter);
    });
  }

  /** The place passes straight to the longest waiting, so that a newcomer can't take it in between. */
  #leave(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#held--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
