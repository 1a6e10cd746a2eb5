import { DelayedKeys } from '#lib/concurrency/delayed-keys.ts';
import { FairQueue } from '#lib/concurrency/fair-queue.ts';
import { FairSemaphore } from '#lib/concurrency/semaphore.ts';
import { TokenBucket } from '#lib/concurrency/token-bucket.ts';
import { nameOfKey } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { QueueObserver } from './work-queue-series.ts';

export interface WorkQueueOptions {
  readonly clock: Clock;
  /** Observes the keys, for the `workqueue_*` series. */
  readonly observer?: QueueObserver | undefined;
  /** Delay after the first failure of a key, doubled after each further one; by default 5 ms. */
  readonly baseDelayMs?: number;
  /** By default 1,000 s. */
  readonly maxDelayMs?: number;
  /** Rate limit of retries of one tenant's keys; by default 10 per second in bursts of 100. */
  readonly failureLimit?: { readonly perSecond: number; readonly burst: number };
  /**
   * Maximum number of concurrently processed keys, of which each tenant leaves some for others. By default unlimited.
   */
  readonly workers?: number;
  /** The tenant of a key; by default its namespace, or the key itself without one. */
  readonly tenantOf?: (key: string) => string;
}

const BASE_DELAY_MS = 5;
const MAX_DELAY_MS = 1_000_000;
const FAILURE_LIMIT = { perSecond: 10, burst: 100 };
/** Maximum number of tenants with failures for which idle rate limits are retained. */
const MAX_IDLE_LIMITS = 1000;

/**
 * Keys to process, with the guarantees of client-go's queue: a key is queued once, however often it is added. No worker
 * gets a key that another one processes; a key that is added meanwhile is queued again afterwards.
 *
 * Namespaces share it: keys are processed round robin, and no namespace takes all workers, or all retries.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #failureLimits = new Map<string, TokenBucket>();
  readonly #ready = new Set<string>();
  /** The same keys in processing order. */
  readonly #order = new FairQueue<string>();
  readonly #workers: FairSemaphore;
  /** With the permit of the worker until that continues. */
  readonly #processing = new Map<string, Disposable>();
  /** Added while they are processed. */
  readonly #again = new Set<string>();
  readonly #waiting: DelayedKeys;
  readonly #failures = new Map<string, number>();
  readonly #takers = new Set<(key: string | undefined) => void>();
  readonly #drained = Promise.withResolvers<void>();
  #isShutDown = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#waiting = new DelayedKeys({ clock: options.clock, release: (key) => this.add(key) });
    this.#workers = new FairSemaphore(options.workers ?? Number.POSITIVE_INFINITY);
  }

  /** Number of keys that could be processed now. */
  get depth(): number {
    return this.#ready.size;
  }

  /** Adds a key, due at once. */
  add(key: string): void {
    if (this.#isShutDown || this.#ready.has(key) || this.#again.has(key)) return;
    this.#options.observer?.added(key);
    if (this.#processing.has(key)) this.#again.add(key);
    else this.#offer(key);
  }

  /** Adds a key after a delay; the earliest of several counts. */
  addAfter(key: string, delayMs: number): void {
    if (this.#isShutDown) return;
    if (!(delayMs > 0)) {
      this.add(key);
      return;
    }
    this.#waiting.add(key, delayMs);
  }

  /** Adds a failed key again, with exponential backoff until {@link forget}. */
  addRateLimited(key: string): void {
    const { baseDelayMs = BASE_DELAY_MS, maxDelayMs = MAX_DELAY_MS, observer } = this.#options;
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    observer?.retried();
    const ownDelayMs = Math.min(baseDelayMs * 2 ** failures, maxDelayMs);
    this.addAfter(key, Math.max(ownDelayMs, this.#failureLimitOf(key).reserve()));
  }

  /** Resets the failures of a key. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Number of failures of the key since it was forgotten. */
  failuresOf(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /**
   * Takes the key that has waited longest of the next tenant, as soon as there is one. The caller must call {@link
   * done}.
   *
   * @returns `undefined` once the queue is shut down and empty
   */
  async take(): Promise<string | undefined> {
    const key = this.#next();
    if (key !== undefined) return key;
    if (this.#isShutDown && this.#ready.size === 0) return undefined;
    return await new Promise((resolve) => this.#takers.add(resolve));
  }

  /** Marks a key as processed. */
  done(key: string): void {
    const permit = this.#processing.get(key);
    if (!permit) return;
    this.#processing.delete(key);
    permit[Symbol.dispose]();
    this.#options.observer?.finished(key);
    if (this.#again.delete(key)) this.#offer(key);
    else this.#dispatch();
    this.#settle();
  }

  /** Releases the worker for other keys; no worker gets the key before it is done. */
  leave(key: string): void {
    this.#processing.get(key)?.[Symbol.dispose]();
    this.#dispatch();
  }

  /**
   * Accepts no more keys, and drops those that are delayed.
   *
   * @param options.retainReady whether ready keys are still processed; by default they are dropped
   * @returns when no key is being processed
   */
  async shutDown({ retainReady = false }: { readonly retainReady?: boolean } = {}): Promise<void> {
    this.#isShutDown = true;
    this.#waiting.clear();
    if (!retainReady) {
      for (const key of [...this.#ready, ...this.#again]) this.#options.observer?.dropped(key);
      this.#ready.clear();
      this.#again.clear();
      this.#order.clear();
    }
    this.#settle();
    await this.#drained.promise;
  }

  #offer(key: string): void {
    this.#ready.add(key);
    this.#order.push(this.#tenantOf(key), key);
    this.#dispatch();
  }

  /** Assigns keys to waiting workers. */
  #dispatch(): void {
    for (const taker of this.#takers) {
      const key = this.#next();
      if (key === undefined) return;
      this.#takers.delete(taker);
      taker(key);
    }
  }

  #next(): string | undefined {
    let permit: Disposable | undefined;
    const key = this.#order.shift((tenant) => {
      permit = this.#workers.tryAcquire(tenant, 1);
      return permit !== undefined;
    });
    if (key === undefined || !permit) return undefined;
    this.#ready.delete(key);
    this.#processing.set(key, permit);
    this.#options.observer?.started(key);
    return key;
  }

  #tenantOf(key: string): string {
    return this.#options.tenantOf?.(key) ?? (nameOfKey(key).namespace || key);
  }

  #failureLimitOf(key: string): TokenBucket {
    const tenant = this.#tenantOf(key);
    const existing = this.#failureLimits.get(tenant);
    if (existing) return existing;
    if (this.#failureLimits.size >= MAX_IDLE_LIMITS)
      for (const [name, limit] of this.#failureLimits) if (limit.isFull) this.#failureLimits.delete(name);
    const { clock, failureLimit = FAILURE_LIMIT } = this.#options;
    const limit = new TokenBucket({ clock, ...failureLimit });
    this.#failureLimits.set(tenant, limit);
    return limit;
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
