import { DelayedKeys } from '#lib/concurrency/delayed-keys.ts';
import { FairQueue } from '#lib/concurrency/fair-queue.ts';
import { FairSemaphore } from '#lib/concurrency/semaphore.ts';
import { TokenBucket } from '#lib/concurrency/token-bucket.ts';
import { nameOfKey } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { QueueObserver } from './work-queue-metrics.ts';

/** What a work queue works with. */
export interface WorkQueueOptions {
  readonly clock: Clock;
  /** Told of what happens, for the `workqueue_*` series. */
  readonly observer?: QueueObserver | undefined;
  /** The first failure of a key is tried again after this long, each further one after twice as long; by default 5 ms. */
  readonly baseDelayMs?: number;
  /** By default 1,000 s. */
  readonly maxDelayMs?: number;
  /** How many failures of one tenant's keys together come back in a second, and at once; by default 10 and 100. */
  readonly failureLimit?: { readonly perSecond: number; readonly burst: number };
  /** How many keys are worked on at once: of one tenant no more than it leaves free to others. By default any number. */
  readonly workers?: number;
  /** Whose a key is; by default its namespace, and the key itself where it has none. */
  readonly tenantOf?: (key: string) => string;
}

const BASE_DELAY_MS = 5;
const MAX_DELAY_MS = 1_000_000;
const FAILURE_LIMIT = { perSecond: 10, burst: 100 };
/** Of more tenants with failures than these, limits that are not in use are dropped. */
const MAX_IDLE_LIMITS = 1000;

/**
 * Keys that are to be worked on, with the promises of client-go's queue: a key is in it once, however often it was
 * added. No worker gets a key that another one processes; a key that is added meanwhile is due again afterwards.
 *
 * Namespaces share it: their keys are given out round robin, and none takes all workers, or all retries of failures.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #failureLimits = new Map<string, TokenBucket>();
  readonly #ready = new Set<string>();
  /** The same keys in the order in which they are to be worked on. */
  readonly #order = new FairQueue<string>();
  readonly #workers: FairSemaphore;
  /** With the permit of the worker, until that goes on. */
  readonly #processing = new Map<string, Disposable>();
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
    this.#workers = new FairSemaphore(options.workers ?? Number.POSITIVE_INFINITY);
  }

  /** How many keys could be worked on now. */
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
    this.addAfter(key, Math.max(ownDelayMs, this.#failureLimitOf(key).reserve()));
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
   * Takes the key that waits the longest of the tenant that is next, as soon as there is one that may be worked on.
   * Who takes it says when it is {@link done}.
   *
   * @returns `undefined` once the queue is shut down and nothing is left in it
   */
  async take(): Promise<string | undefined> {
    const key = this.#next();
    if (key !== undefined) return key;
    if (this.#isShutDown && this.#ready.size === 0) return undefined;
    return await new Promise((resolve) => this.#takers.add(resolve));
  }

  /** The key is not worked on any more. */
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

  /** Its worker continues with other keys; no worker gets the key before it is done. */
  leave(key: string): void {
    this.#processing.get(key)?.[Symbol.dispose]();
    this.#dispatch();
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

  /** Gives keys to those who wait for one. */
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
    const known = this.#failureLimits.get(tenant);
    if (known) return known;
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
