import type { Clock } from '#lib/time/clock.ts';

interface Sleeper {
  readonly wakesAtMs: number;
  readonly wake: () => void;
}

/** A clock that advances only by calls, so that no spec waits for real time. */
export class ManualClock implements Clock {
  #monotonicMs = 0;
  #wallOffsetMs: number;
  readonly #sleepers = new Set<Sleeper>();

  constructor(nowMs = Date.UTC(2026, 0, 1)) {
    this.#wallOffsetMs = nowMs;
  }

  nowMs(): number {
    return this.#wallOffsetMs + this.#monotonicMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  /** Number of pending sleeps and timers: a disposed component leaves none. */
  get sleeperCount(): number {
    return this.#sleepers.size;
  }

  sleep(durationMs: number, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const sleeper: Sleeper = {
        wakesAtMs: this.#monotonicMs + durationMs,
        wake: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#sleepers.add(sleeper);
    });
  }

  startTimer(durationMs: number, callback: () => void): Disposable {
    const sleeper = { wakesAtMs: this.#monotonicMs + durationMs, wake: callback };
    this.#sleepers.add(sleeper);
    return { [Symbol.dispose]: () => void this.#sleepers.delete(sleeper) };
  }

  /** Steps only the wall clock, as an administrator or NTP does. */
  stepWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /**
   * Advances both clocks, wakes sleepers in order, and runs the consequences of each.
   *
   * @returns the number of sleepers that woke
   */
  async advance(durationMs: number): Promise<number> {
    const untilMs = this.#monotonicMs + durationMs;
    let count = 0;
    await settle();
    for (let next = this.#nextUntil(untilMs); next; next = this.#nextUntil(untilMs)) {
      this.#monotonicMs = Math.max(this.#monotonicMs, next.wakesAtMs);
      this.#sleepers.delete(next);
      next.wake();
      count++;
      await settle();
    }
    this.#monotonicMs = untilMs;
    return count;
  }

  /** Advances both clocks at once, as for a suspended process: sleepers wake late. */
  async jump(durationMs: number): Promise<void> {
    this.#monotonicMs += durationMs;
    await this.advance(0);
  }

  #nextUntil(untilMs: number): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (sleeper.wakesAtMs <= untilMs && (!first || sleeper.wakesAtMs < first.wakesAtMs)) first = sleeper;
    }
    return first;
  }
}

/** Runs the continuations of every resolved promise, and theirs. */
async function settle(): Promise<void> {
  for (let tick = 0; tick < 3; tick++) await new Promise((resolve) => setImmediate(resolve));
}
