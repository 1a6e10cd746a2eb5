import type { Clock } from '#lib/time/clock.ts';

interface DelayedKeysOptions {
  readonly clock: Clock;
  /** Called with each key after its delay, when the key no longer waits. */
  readonly release: (key: string) => void;
}

interface Entry {
  readonly key: string;
  readonly readyAtMs: number;
}

/** Stale entries are removed from the heap when there are more than this many, and more than valid ones. */
const MIN_STALE = 64;

/**
 * Releases each key after its delay. All keys share one timer: 10,000 timers would take 5 MB.
 *
 * The keys are in a binary heap ordered by time. If a key is added again with an earlier time, its old entry is stale
 * and remains in the heap until its time, or until there are too many stale entries.
 */
export class DelayedKeys {
  readonly #options: DelayedKeysOptions;
  readonly #readyAtMs = new Map<string, number>();
  #heap: Entry[] = [];
  #timer: { readonly atMs: number; readonly running: Disposable } | undefined;

  constructor(options: DelayedKeysOptions) {
    this.#options = options;
  }

  /** Number of waiting keys. */
  get size(): number {
    return this.#readyAtMs.size;
  }

  /** Schedules the release of a key. If it is already scheduled, the earlier time counts. */
  add(key: string, delayMs: number): void {
    const readyAtMs = this.#options.clock.monotonicMs() + delayMs;
    if (readyAtMs >= (this.#readyAtMs.get(key) ?? Number.POSITIVE_INFINITY)) return;
    this.#readyAtMs.set(key, readyAtMs);
    this.#push({ key, readyAtMs });
    if (this.#heap.length > 2 * this.size + MIN_STALE) this.#dropStale();
    this.#startTimer();
  }

  /** Cancels the release of a key. */
  delete(key: string): void {
    this.#readyAtMs.delete(key); // its heap entry is now stale
  }

  /** Cancels all releases. */
  clear(): void {
    this.#readyAtMs.clear();
    this.#heap = [];
    this.#startTimer();
  }

  #startTimer(): void {
    const first = this.#heap[0];
    if (this.#timer && this.#timer.atMs === first?.readyAtMs) return;
    this.#timer?.running[Symbol.dispose]();
    this.#timer = undefined;
    if (!first) return;
    const { clock } = this.#options;
    const { readyAtMs: atMs } = first;
    const running = clock.startTimer(Math.max(0, atMs - clock.monotonicMs()), () => {
      this.#timer = undefined;
      this.#release(Math.max(atMs, clock.monotonicMs())); // timers may fire a fraction of a millisecond early
      this.#startTimer();
    });
    this.#timer = { atMs, running };
  }

  #release(untilMs: number): void {
    for (;;) {
      const first = this.#heap[0];
      if (!first || first.readyAtMs > untilMs) return;
      this.#pop();
      if (this.#readyAtMs.get(first.key) !== first.readyAtMs) continue; // stale
      this.#readyAtMs.delete(first.key);
      this.#options.release(first.key);
    }
  }

  /** Replaces the heap by the sorted valid entries, which form a heap. */
  #dropStale(): void {
    this.#heap = [...this.#readyAtMs]
      .map(([key, readyAtMs]) => ({ key, readyAtMs }))
      .sort((a, b) => a.readyAtMs - b.readyAtMs);
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let index = heap.length;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above];
      if (!parent || parent.readyAtMs <= entry.readyAtMs) break;
      heap[index] = parent;
      index = above;
    }
    heap[index] = entry;
  }

  /** Removes the first entry and moves the last one down from the root. */
  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let index = 0;
    for (;;) {
      const left = heap[2 * index + 1];
      const right = heap[2 * index + 2];
      const isRight = right !== undefined && left !== undefined && right.readyAtMs < left.readyAtMs;
      const child = isRight ? right : left;
      if (!child || child.readyAtMs >= last.readyAtMs) break;
      heap[index] = child;
      index = 2 * index + (isRight ? 2 : 1);
    }
    heap[index] = last;
  }
}
