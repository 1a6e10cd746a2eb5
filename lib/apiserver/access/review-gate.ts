import { tooManyRequests } from '#lib/apiserver/http/status-error.ts';
import { onAbort } from '#lib/time/abort-signal.ts';

/** How many reviews there may be. */
interface ReviewLimits {
  /** Under way at once, each on a connection to the API server. */
  readonly underWay: number;
  /** Waiting until fewer are. */
  readonly waiting: number;
}

/** A review takes milliseconds: these are thousands in a second. */
export const DEFAULT_REVIEW_LIMITS: ReviewLimits = { underWay: 32, waiting: 1_000 };

const RETRY_AFTER_SECONDS = 1;

interface Waiter {
  readonly begin: (place: Disposable) => void;
}

/**
 * Lets a number of reviews be under way, and others wait for them. Of both, one party has half at most, and the next is of the
 * party that has the fewest: who sends a stranger's request for each review, or thousands of tokens, keeps itself out, and nobody else.
 */
export class ReviewGate {
  readonly #limits: ReviewLimits;
  readonly #onRefused: () => void;
  readonly #underWay = new Map<string, number>();
  readonly #waiting = new Map<string, Set<Waiter>>();
  #underWayCount = 0;
  #waitingCount = 0;

  /** @param onRefused told of each review that may not even wait */
  constructor(limits: ReviewLimits, onRefused: () => void) {
    this.#limits = limits;
    this.#onRefused = onRefused;
  }

  get waitingCount(): number {
    return this.#waitingCount;
  }

  /**
   * Waits until a review may begin; it is over when the place is disposed of.
   *
   * @throws {StatusError} 429 where too many wait already; the signal's reason when that aborts first
   */
  enter(party: string, signal?: AbortSignal): Promise<Disposable> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#mayBegin(party)) return Promise.resolve(this.#begin(party));
    const waiting = this.#waiting.get(party) ?? new Set();
    const { waiting: limit } = this.#limits;
    if (this.#waitingCount >= limit || waiting.size >= limit / 2) {
      this.#onRefused();
      return Promise.reject(tooManyRequests(RETRY_AFTER_SECONDS));
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        begin: (place) => {
          leaving[Symbol.dispose]();
          resolve(place);
        },
      };
      this.#waiting.set(party, waiting.add(waiter));
      this.#waitingCount++;
      const leaving = onAbort(signal, () => {
        if (this.#stopWaiting(party, waiter)) reject(signal?.reason);
      });
    });
  }

  #mayBegin(party: string): boolean {
    const { underWay } = this.#limits;
    return this.#underWayCount < underWay && (this.#underWay.get(party) ?? 0) < underWay / 2;
  }

  #begin(party: string): Disposable {
    this.#change(party, 1);
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (isOver) return;
        isOver = true;
        this.#change(party, -1);
        this.#beginNext();
      },
    };
  }

  #change(party: string, by: 1 | -1): void {
    this.#underWayCount += by;
    const count = (this.#underWay.get(party) ?? 0) + by;
    if (count > 0) this.#underWay.set(party, count);
    else this.#underWay.delete(party);
  }

  #beginNext(): void {
    let [next, fewest]: [string | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
    for (const party of this.#waiting.keys()) {
      const count = this.#underWay.get(party) ?? 0;
      if (this.#mayBegin(party) && count < fewest) [next, fewest] = [party, count];
    }
    const [waiter] = (next !== undefined && this.#waiting.get(next)) || [];
    if (next === undefined || !waiter) return;
    this.#stopWaiting(next, waiter);
    waiter.begin(this.#begin(next));
  }

  #stopWaiting(party: string, waiter: Waiter): boolean {
    const waiting = this.#waiting.get(party);
    if (!waiting?.delete(waiter)) return false;
    this.#waitingCount--;
    this.#waiting.delete(party);
    if (waiting.size > 0) this.#waiting.set(party, waiting); // behind the others
    return true;
  }
}
