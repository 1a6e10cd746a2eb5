import { DelayedKeys } from '#lib/concurrency/delayed-keys.ts';
import { TokenBucket } from '#lib/concurrency/token-bucket.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { QueueObserver } from './work-queue-series.ts';

/** What a work queue works with. */
export interface WorkQueueOptions {
  readonly clock: Clock;
  /** Told of what happens, for the `workqueue_*` series. */
  readonly observer?: QueueObserver | undefined;
  /** The first failure of a key is tried again after this long, each further one after twice as long; by default 5 ms. */
  readonly baseDelayMs?: number;
  /** By default 1,000 s. */
  readonly maxDelayMs?: number;
  /** How many failures of all keys together come back in a second, and at once; by default 10 and 100. */
  readonly failureLimit?: { readonly perSecond: number; readonly burst: number };
}

const BASE_DELAY_MS = 5;
const MAX_DELAY_MS = 1_000_000;
/** As long as fewer keys were taken, their places are left as they are. */
const MIN_TAKEN = 1024;
const FAILURE_LIMIT = { perSecond: 10, burst: 100 };

/**
 * Keys that are to be worked on, with the promises of client-go's queue: a key is in it once, however often it was
 * added; nobody gets a key that somebody works on; one that is added meanwhile comes again afterwards.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #failureLimit: TokenBucket;
  readonly #ready = new Set<string>();
  /** The same keys in the order in which they are to be worked on, behind those that were. */
  #order: string[] = [];
  #taken = 0;
  readonly #processing = new Set<string>();
  /** Added while they are worked on. */
  readonly #again = new Set<string>();
  readonly #waiting: DelayedKeys;
  readonly #failures = new Map<string, number>();
  readonly #takers = new Set<(key: string | undefined) => void>();
  readonly #drained = Promise.withResolvers<void>();
  #isShutDown = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#waiting = new DelayedKeys({ clock: options.clock, release: (key) => this.add(key) });
    this.#failureLimit = new TokenBucket({
      clock: options.clock,
      ...(options.failureLimit ?? FAILURE_LIMIT),
    });
  }

  /** How many keys could be worked on now. */
  get depth(): number {
    return this.#ready.size;
  }

  /** Has a key worked on as soon as somebody can. */
  add(key: string): void {
    if (this.#isShutDown || this.#ready.has(key) || this.#again.has(key)) return;
    this.#options.observer?.added(key);
    if (this.#processing.has(key)) this.#again.add(key);
    else this.#offer(key);
  }

  /** Has a key worked on after a while; of several times the earliest counts. */
  addAfter(key: string, delayMs: number): void {
    if (this.#isShutDown) return;
    if (!(delayMs > 0)) {
      this.add(key);
      return;
    }
    this.#waiting.add(key, delayMs);
  }

  /** Has a key that failed worked on again, later from failure to failure until {@link forget}. */
  addRateLimited(key: string): void {
    const { baseDelayMs = BASE_DELAY_MS, maxDelayMs = MAX_DELAY_MS, observer } = this.#options;
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    observer?.retried();
    const ownDelayMs = Math.min(baseDelayMs * 2 ** failures, maxDelayMs);
    this.addAfter(key, Math.max(ownDelayMs, this.#failureLimit.reserve()));
  }

  /** The key's failures do not count any more. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** How often the key has failed since it was forgotten. */
  failuresOf(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /**
   * Takes the key that waits the longest, as soon as there is one. Who takes it says when it is {@link done}.
   *
   * @returns `undefined` once the queue is shut down and nothing is left in it
   */
  async take(): Promise<string | undefined> {
    const key = this.#next();
    if (key !== undefined) return this.#begin(key);
    if (this.#isShutDown) return undefined;
    return await new Promise((resolve) => this.#takers.add(resolve));
  }

  /** The key is not worked on any more. */
  done(key: string): void {
    if (!this.#processing.delete(key)) return;
    this.#options.observer?.finished(key);
    if (this.#again.delete(key)) this.#offer(key);
    this.#settle();
  }

  /**
   * Takes no more keys, and drops those that wait for their time.
   *
   * @param keepReady whether the keys that are ready are still given out; by default they are dropped
   * @returns when nothing is worked on any more
   */
  async shutDown({ keepReady = false }: { readonly keepReady?: boolean } = {}): Promise<void> {
    this.#isShutDown = true;
    this.#waiting.clear();
    if (!keepReady) {
      for (const key of [...this.#ready, ...this.#again]) this.#options.observer?.dropped(key);
      this.#ready.clear();
      this.#again.clear();
      this.#order = [];
      this.#taken = 0;
    }
    this.#settle();
    await this.#drained.promise;
  }

  #offer(key: string): void {
    const [taker] = this.#takers;
    if (!taker) {
      this.#ready.add(key);
      this.#order.push(key);
      return;
    }
    this.#takers.delete(taker);
    taker(this.#begin(key));
  }

  #next(): string | undefined {
    const key = this.#order[this.#taken];
    if (key === undefined) return undefined;
    this.#ready.delete(key);
    if (++this.#taken >= MIN_TAKEN && this.#taken * 2 >= this.#order.length) {
      this.#order = this.#order.slice(this.#taken); // each key is copied once on average
      this.#taken = 0;
    }
    return key;
  }

  #begin(key: string): string {
    this.#processing.add(key);
    this.#options.observer?.started(key);
    return key;
  }

  #settle(): void {
    if (!this.#isShutDown || this.#ready.size > 0 || this.#processing.size > 0) return;
    this.#dismissTakers();
    this.#drained.resolve();
  }

  #dismissTakers(): void {
    for (const taker of this.#takers) taker(undefined);
    this.#takers.clear();
  }
}
