import type { Clock } from '#lib/time/clock.ts';

/** What delayed keys work with. */
export interface DelayedKeysOptions {
  readonly clock: Clock;
  /** Gets each key when its time has come; the key is not among those that wait any more. */
  readonly release: (key: string) => void;
}

interface Entry {
  readonly key: string;
  readonly readyAtMs: number;
}

/** Entries that do not count any more are taken out once there are so many, and as many as those that do. */
const MIN_STALE = 64;

/**
 * Keys that wait for a time each, all by one timer: a timer for each of ten thousand would take 5 MB.
 *
 * They lie in a heap, in which the parent of a place is never later than what is in it. An entry that was overtaken by an
 * earlier one of its key stays in the heap until it comes up, or until there are too many of its like.
 */
export class DelayedKeys {
  readonly #options: DelayedKeysOptions;
  readonly #readyAtMs = new Map<string, number>();
  #heap: Entry[] = [];
  #timer: { readonly atMs: number; readonly running: Disposable } | undefined;

  constructor(options: DelayedKeysOptions) {
    this.#options = options;
  }

  /** How many wait. */
  get size(): number {
    return this.#readyAtMs.size;
  }

  /** Has a key released after a while; of several times the earliest counts. */
  add(key: string, delayMs: number): void {
    const readyAtMs = this.#options.clock.monotonicMs() + delayMs;
    if (readyAtMs >= (this.#readyAtMs.get(key) ?? Number.POSITIVE_INFINITY)) return;
    this.#readyAtMs.set(key, readyAtMs);
    this.#push({ key, readyAtMs });
    if (this.#heap.length > 2 * this.size + MIN_STALE) this.#dropStale();
    this.#startTimer();
  }

  /** The key is not released any more, unless it is added again. */
  delete(key: string): void {
    this.#readyAtMs.delete(key); // its entry in the heap is stale from now on
  }

  /** None of them is released any more. */
  clear(): void {
    this.#readyAtMs.clear();
    this.#heap = [];
    this.#startTimer();
  }

  #startTimer(): void {
    const [first] = this.#heap;
    if (this.#timer && this.#timer.atMs === first?.readyAtMs) return;
    this.#timer?.running[Symbol.dispose]();
    this.#timer = undefined;
    if (!first) return;
    const { clock } = this.#options;
    const { readyAtMs: atMs } = first;
    const running = clock.startTimer(Math.max(0, atMs - clock.monotonicMs()), () => {
      this.#timer = undefined;
      this.#release(Math.max(atMs, clock.monotonicMs())); // timers come a fraction of a millisecond early, too
      this.#startTimer();
    });
    this.#timer = { atMs, running };
  }

  #release(untilMs: number): void {
    for (let [first] = this.#heap; first && first.readyAtMs <= untilMs; [first] = this.#heap) {
      this.#pop();
      if (this.#readyAtMs.get(first.key) !== first.readyAtMs) continue; // an earlier one has overtaken it
      this.#readyAtMs.delete(first.key);
      this.#options.release(first.key);
    }
  }

  /** What is in order is a heap. */
  #dropStale(): void {
    this.#heap = [...this.#readyAtMs]
      .map(([key, readyAtMs]) => ({ key, readyAtMs }))
      .sort((a, b) => a.readyAtMs - b.readyAtMs);
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let place = heap.length;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = heap[above];
      if (!parent || parent.readyAtMs <= entry.readyAtMs) break;
      heap[place] = parent;
      place = above;
    }
    heap[place] = entry;
  }

  /** Takes the first one out; the last one sinks from its place. */
  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let place = 0;
    for (;;) {
      const [left, right] = [heap[2 * place + 1], heap[2 * place + 2]];
      const isRight = right !== undefined && left !== undefined && right.readyAtMs < left.readyAtMs;
      const child = isRight ? right : left;
      if (!child || child.readyAtMs >= last.readyAtMs) break;
      heap[place] = child;
      place = 2 * place + (isRight ? 2 : 1);
    }
    heap[place] = last;
  }
}
