import { FairSemaphore } from '#lib/concurrency/semaphore.ts';
import { TokenBucket } from '#lib/concurrency/token-bucket.ts';
import type { Query } from '#lib/sources/query.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';

/** How many polls the process makes. */
interface PollLimitsOptions {
  /** Polls that begin in a second, of all namespaces together. */
  readonly perSecond?: number;
  /** Polls that begin at once: they hold the event loop for so long as it takes to send their requests. */
  readonly burst?: number;
  /** Polls under way; each has a socket of its own. */
  readonly maxConcurrent?: number;
}

/** 10,000 triggers at the 15 s of an HPA are 667 polls a second. */
const PER_SECOND = 1000;
const BURST = 50;
/** A namespace alone has half of them: 512 polls of 1 s are 10,000 triggers every 20 s. */
const MAX_CONCURRENT = 1024;
/** Polls of one source at once, where its query says nothing else. */
const MAX_CONCURRENT_OF_SOURCE = 32;
/** A poll that may not begin for so long fails instead of being ever later. */
const MAX_WAIT_MS = 60_000;

/**
 * What namespaces share of the polls of one process: the rate at which they begin, how many are under way, and how many are
 * under way to one source. A namespace that has more due than it may begin has them later; of those of other namespaces each
 * waits for one poll of every namespace at most.
 */
export class PollLimits {
  readonly #clock: Clock;
  readonly #rate: TokenBucket;
  readonly #all: FairSemaphore;
  readonly #bySource = new Map<string, FairSemaphore>();

  constructor(
    clock: Clock,
    { perSecond = PER_SECOND, burst = BURST, maxConcurrent = MAX_CONCURRENT }: PollLimitsOptions = {},
  ) {
    this.#clock = clock;
    this.#rate = new TokenBucket({ clock, perSecond, burst });
    this.#all = new FairSemaphore(maxConcurrent);
  }

  /**
   * Waits until a query may be polled for a tenant; without the name of a tenant, it may be at once.
   *
   * @param timeoutMs bounds the wait for the source: where it does not respond, that is to be reported in time
   * @returns a permit, to be disposed of when the poll has ended
   * @throws an Error that says what it waited for, and for how long; the signal's reason when it aborts first
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
      new Error(`${description}: not polled within ${formatDuration(waitedMs)}: ${why}`);
    if (source !== undefined) {
      const why = `its source has as many polls under way as it takes from namespace ${tenant}`;
      using deadline = startDeadline(this.#clock, timeoutMs, { signal, expired: late(timeoutMs, why) });
      permits.use(await this.#acquireOfSource(source, { query, tenant, signal: deadline.signal }));
    }
    const why = `namespace ${tenant} has more polls due than it may begin`;
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
