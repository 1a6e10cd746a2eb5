import { FairSemaphore } from '#lib/concurrency/semaphore.ts';
import { TokenBucket } from '#lib/concurrency/token-bucket.ts';
import type { Query } from '#lib/sources/query.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';

/** Polls that start per second, of all namespaces together: 10,000 triggers at the 15 s interval of HPAs are 667. */
const PER_SECOND = 1000;
/** Polls that start at once: sending their requests blocks the event loop. */
const BURST = 50;
/** Each concurrent poll uses a socket. A single namespace gets half of them: 512 polls of 1 s are 10,000 triggers every 20 s. */
const MAX_CONCURRENT = 1024;
/** Concurrent polls of one source, unless its query sets another limit. */
const MAX_CONCURRENT_OF_SOURCE = 32;
/** A poll that has to wait longer fails. */
const MAX_WAIT_MS = 60_000;

/**
 * Limits the polls of a process, and shares the limits fairly between namespaces: the rate of starts, the concurrent
 * polls, and the concurrent polls per source. A namespace above its share polls less often; the polls of another
 * namespace wait for at most one poll of each other namespace.
 */
export class PollLimits {
  readonly #clock: Clock;
  readonly #rate: TokenBucket;
  readonly #all: FairSemaphore;
  readonly #bySource = new Map<string, FairSemaphore>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#rate = new TokenBucket({ clock, perSecond: PER_SECOND, burst: BURST });
    this.#all = new FairSemaphore(MAX_CONCURRENT);
  }

  /**
   * Waits until a query may be run for a tenant. Without a tenant, returns immediately.
   *
   * @param timeoutMs limits the wait for the source, so that a source that does not respond is reported in time
   * @returns a permit; dispose of it when the query has completed
   * @throws an Error that names the limit and the time waited; the signal's reason if it aborts first
   */
  async acquire(
    query: Query,
    tenant: string | undefined,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<Disposable> {
    if (tenant === undefined) return { [Symbol.dispose]() {} };
    using permits = new DisposableStack();
    const { source, description } = query;
    const late = (waitedMs: number, why: string) => () =>
      new Error(`Cannot query ${description} within ${formatDuration(waitedMs)}: ${why}`);
    if (source !== undefined) {
      const why = `namespace ${tenant} has the maximum number of concurrent polls of this source`;
      using deadline = startDeadline(this.#clock, timeoutMs, { signal, expired: late(timeoutMs, why) });
      permits.use(await this.#acquireOfSource(source, { query, tenant, signal: deadline.signal }));
    }
    const why = `namespace ${tenant} exceeds its share of polls`;
    using deadline = startDeadline(this.#clock, MAX_WAIT_MS, { signal, expired: late(MAX_WAIT_MS, why) });
    permits.use(await this.#all.acquire(tenant, deadline.signal));
    await this.#rate.take(deadline.signal, tenant);
    return permits.move();
  }

  async #acquireOfSource(
    source: string,
    {
      query: { maxConcurrent = MAX_CONCURRENT_OF_SOURCE },
      tenant,
      signal,
    }: { readonly query: Query; readonly tenant: string; readonly signal: AbortSignal },
  ): Promise<Disposable> {
    const semaphore = this.#bySource.get(source) ?? new FairSemaphore(maxConcurrent);
    this.#bySource.set(source, semaphore);
    using cleanup = new DisposableStack();
    cleanup.defer(() => {
      if (semaphore.isIdle && this.#bySource.get(source) === semaphore) this.#bySource.delete(source);
    });
    cleanup.use(await semaphore.acquire(tenant, signal));
    return cleanup.move();
  }
}
