import { Semaphore } from '#lib/concurrency/semaphore.ts';
import type { Clock } from '#lib/time/clock.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { raceAbort } from '#lib/time/race-abort.ts';

/** How reads of one metrics API are bounded. */
export interface SharedReadsOptions<Value> {
  readonly clock: Clock;
  /** How much a value counts of `mostKept`; by default 1. */
  readonly weigh?: (value: Value) => number;
  /** The longest unread values go once all together count more than this; by default 10,000. */
  readonly mostKept?: number;
}

interface Read<Value> {
  readonly askedAtMs: number;
  readonly value: Promise<Value>;
  isSettled: boolean;
  weight: number;
}

/** Each read is over after this long, well before the decision that waits for it. */
export const READ_WITHIN_MS = 10_000;
/** So many are under way at once, whatever the number of HPAs: an API server takes 400 requests in all by default. */
const MOST_AT_ONCE = 32;
const MOST_KEPT = 10_000;

/**
 * Reads of one metrics API: equal ones are made once for all that ask within a while, and not too many at once.
 *
 * Those that wait for others wait on while the API responds to any; once it hangs, they fail together.
 */
export class SharedReads<Value> {
  readonly #options: SharedReadsOptions<Value>;
  readonly #permits = new Semaphore(MOST_AT_ONCE);
  readonly #reads = new Map<string, Read<Value>>();
  /** What all of them weigh. */
  #kept = 0;
  /** Ends the wait of those that have no permit yet. */
  #waiting = new AbortController();
  #respondedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: SharedReadsOptions<Value>) {
    this.#options = options;
  }

  /**
   * What one of them has read, under a key that says what is read.
   *
   * A read is not bound to the signal of who asks first, for others wait for it, too; what is under way is waited for
   * however long ago it began.
   *
   * @param maxAgeMs what began longer ago is read again
   * @param read has to end within {@link READ_WITHIN_MS}
   * @throws what `read` throws, for everybody who waited for it; nothing is kept of a failure
   */
  async get(
    key: string,
    { maxAgeMs, signal }: { readonly maxAgeMs: number; readonly signal: AbortSignal },
    read: () => Promise<Value>,
  ): Promise<Value> {
    const nowMs = this.#options.clock.monotonicMs();
    const known = this.#reads.get(key);
    if (known && (!known.isSettled || nowMs - known.askedAtMs < maxAgeMs))
      return await raceAbort(known.value, signal);
    if (known) this.#drop(key, known);
    const begun: Read<Value> = { askedAtMs: nowMs, value: this.#read(read), isSettled: false, weight: 1 };
    begun.value.then(
      (value) => this.#settle(begun, value),
      () => this.#drop(key, begun),
    );
    this.#reads.set(key, begun); // at the end: the longest unread go first
    this.#kept += begun.weight;
    return await raceAbort(begun.value, signal);
  }

  async #read(read: () => Promise<Value>): Promise<Value> {
    using _permit = await this.#permits.acquire(this.#waiting.signal);
    const { clock } = this.#options;
    const startedAtMs = clock.monotonicMs();
    try {
      return await read();
    } finally {
      const nowMs = clock.monotonicMs();
      if (nowMs - startedAtMs < READ_WITHIN_MS) this.#respondedAtMs = nowMs;
      else if (this.#respondedAtMs < startedAtMs) this.#giveUpWaiting();
    }
  }

  /** Nothing was responded to for as long as a read may take. */
  #giveUpWaiting(): void {
    const waited = `the metrics API has responded to nothing for ${formatDuration(READ_WITHIN_MS)}`;
    this.#waiting.abort(new Error(waited));
    this.#waiting = new AbortController();
  }

  #settle(read: Read<Value>, value: Value): void {
    read.isSettled = true;
    const { weigh = () => 1, mostKept = MOST_KEPT } = this.#options;
    const weight = weigh(value);
    this.#kept += weight - read.weight;
    read.weight = weight;
    for (const [other, one] of this.#reads) {
      if (this.#kept <= mostKept) break;
      if (one.isSettled) this.#drop(other, one);
    }
  }

  #drop(key: string, read: Read<Value>): void {
    if (this.#reads.get(key) !== read) return;
    this.#reads.delete(key);
    this.#kept -= read.weight;
  }
}
