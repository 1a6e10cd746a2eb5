import { runForTenant } from '#lib/concurrency/tenant.ts';
import type { Query } from '#lib/sources/query.ts';
import { toError } from '#lib/telemetry/error-text.ts';
import type { LineBudget } from '#lib/telemetry/line-budget.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { PollLimits } from './poll-limits.ts';
import { type PollOutcome, PollResults, type Reading } from './poll-results.ts';

export interface PollEnvironment {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns a number in [0, 1); spreads queries over their interval. */
  readonly random: () => number;
  /** Timeout of queries that do not set their own. */
  readonly timeoutMs: number;
  /** Called after every query, with its error if it failed. */
  readonly onPolled: (
    query: Query,
    durationMs: number,
    error: Error | undefined,
    reading: Reading | undefined,
  ) => void;
}

/** Shared by the polls of a collection. */
interface SharedByPolls {
  readonly limits: PollLimits;
  readonly lines: LineBudget | undefined;
}

/** How a subscriber wants a query to be polled. */
export interface PollSubscription {
  readonly intervalMs: number;
  /** The namespace that shares the source fairly with others; absent for unlimited polls. */
  readonly tenant?: string | undefined;
  /** Polls a failing source at the normal interval, for subscribers that count failures. */
  readonly isSteady?: boolean | undefined;
  /** Called after every query, successful or not; once for several subscriptions. */
  readonly onPolled?: (() => void) | undefined;
}

/** A failing source is polled after this time, which doubles with each failure… */
const FIRST_BACKOFF_MS = 1000;
/** … up to four intervals or a minute, whichever is less, or to a longer interval. */
const MAX_BACKOFF_INTERVALS = 4;
const MAX_BACKOFF_MS = 60_000;
const MAX_NOTES = 10;
const MAX_NOTE_LENGTH = 500;
/** Maximum random extension of the wait after a failure, so that queries do not resume simultaneously. */
const JITTER = 0.2;

/**
 * Polls one query while it has subscribers: immediately, then at the shortest interval of its subscriptions. One query
 * runs at a time.
 *
 * The two waits after the first query, and after a recovery, are at least half an interval and random, so that queries
 * that started or recovered together are spread over the whole interval. A stalled process leaves them spread.
 */
export class Poll {
  readonly #query: Query;
  readonly #environment: PollEnvironment & SharedByPolls;
  readonly #unsubscribed = new AbortController();
  readonly #subscriptions = new Map<object, PollSubscription>();
  readonly #tenants = new CountedSet<string>();
  readonly #listeners = new CountedSet<() => void>();
  /** `undefined` when it has to be computed. */
  #minIntervalMs: number | undefined;
  readonly #results: PollResults;
  #timer: Disposable | undefined;
  #nextAtMonotonicMs: number;
  #isPolling = false;
  #isPollRequested = false;
  /** Number of random waits since the first query or the last recovery. */
  #spreadingWaits = 0;
  #hasBegun = false;

  constructor(query: Query, environment: PollEnvironment & SharedByPolls) {
    this.#query = query;
    this.#environment = environment;
    this.#results = new PollResults(query.description, environment);
    this.#nextAtMonotonicMs = environment.clock.monotonicMs();
  }

  get query(): Query {
    return this.#query;
  }

  get results(): Pick<PollResults, 'reading' | 'failure' | 'pollCount' | 'record'> {
    return this.#results;
  }

  /** Milliseconds until the next query; 0 while one is running. */
  get nextInMs(): number {
    return Math.max(0, this.#nextAtMonotonicMs - this.#environment.clock.monotonicMs());
  }

  /** Adds a subscriber, or replaces its subscription. */
  subscribe(subscriber: object, subscription: PollSubscription): void {
    this.#remove(subscriber);
    this.#subscriptions.set(subscriber, subscription);
    const { tenant, onPolled } = subscription;
    if (tenant !== undefined) this.#tenants.add(tenant);
    if (onPolled) this.#listeners.add(onPolled);
    if (this.#minIntervalMs !== undefined)
      this.#minIntervalMs = Math.min(this.#minIntervalMs, subscription.intervalMs);
    const latestMs = this.#environment.clock.monotonicMs() + this.#intervalMs;
    if (!this.#hasBegun) this.#schedule(this.#nextAtMonotonicMs);
    else if (!this.#results.failure && this.#nextAtMonotonicMs > latestMs) this.#schedule(latestMs);
  }

  /** Runs the query immediately, or again after the query that is running. */
  pollNow(): void {
    if (this.#isPolling) this.#isPollRequested = true;
    else this.#schedule(this.#environment.clock.monotonicMs());
  }

  /** @returns whether the poll has ended, since it has no subscribers; the query that is running is aborted */
  unsubscribe(subscriber: object): boolean {
    this.#remove(subscriber);
    if (this.#subscriptions.size > 0) return false;
    this.#timer?.[Symbol.dispose]();
    this.#unsubscribed.abort(new Error('unsubscribed'));
    return true;
  }

  /**
   * Several tenants of a query count as a tenant of their own, so that none of them delays the query for the others.
   */
  get #tenant(): string | undefined {
    const tenants = [...this.#tenants.values()];
    return tenants.length === 0 ? undefined : tenants.sort().join(' ');
  }

  /** The shortest interval of the subscriptions, of which tenants may add any number. */
  get #intervalMs(): number {
    if (this.#minIntervalMs !== undefined) return this.#minIntervalMs;
    let minIntervalMs = Number.POSITIVE_INFINITY;
    for (const { intervalMs } of this.#subscriptions.values())
      minIntervalMs = Math.min(minIntervalMs, intervalMs);
    this.#minIntervalMs = minIntervalMs;
    return minIntervalMs;
  }

  #remove(subscriber: object): void {
    const before = this.#subscriptions.get(subscriber);
    if (!before) return;
    if (before.intervalMs === this.#minIntervalMs) this.#minIntervalMs = undefined;
    this.#subscriptions.delete(subscriber);
    if (before.tenant !== undefined) this.#tenants.remove(before.tenant);
    if (before.onPolled) this.#listeners.remove(before.onPolled);
  }

  #schedule(atMonotonicMs: number): void {
    this.#nextAtMonotonicMs = atMonotonicMs;
    this.#timer?.[Symbol.dispose]();
    const delayMs = Math.max(0, atMonotonicMs - this.#environment.clock.monotonicMs());
    this.#timer = this.#environment.clock.startTimer(delayMs, () => void this.#poll());
  }

  async #poll(): Promise<void> {
    const { clock, onPolled } = this.#environment;
    const startedAtMs = clock.monotonicMs();
    const dueAtMs = this.#nextAtMonotonicMs;
    this.#isPolling = true;
    this.#hasBegun = true;
    const { outcome, begunAtMs } = await this.#runQuery();
    this.#isPolling = false;
    if (this.#unsubscribed.signal.aborted) return; // aborted by unsubscribing, not a failure
    const durationMs = clock.monotonicMs() - begunAtMs;
    this.#results.add(outcome, { durationMs, latenessMs: Math.max(0, begunAtMs - dueAtMs) });
    onPolled(this.#query, durationMs, 'error' in outcome ? outcome.error : undefined, this.#results.reading);
    // From the due time: queries that one stall delayed would otherwise continue simultaneously.
    const fromMs = startedAtMs - dueAtMs < this.#intervalMs ? dueAtMs : startedAtMs;
    if (fromMs > dueAtMs) this.#spreadingWaits = 0;
    const nowMs = clock.monotonicMs();
    const nextAtMs = this.#isPollRequested
      ? nowMs
      : this.#isBackingOff
        ? nowMs + this.#backoffMs()
        : fromMs + this.#waitMs();
    this.#isPollRequested = false;
    this.#schedule(Math.max(nowMs, nextAtMs));
    for (const onPolled of this.#listeners.values()) onPolled();
  }

  /** Runs the query when the limits allow it. The timeout of the query does not include that wait. */
  async #runQuery(): Promise<{ readonly outcome: PollOutcome; readonly begunAtMs: number }> {
    const { clock, limits } = this.#environment;
    const { timeoutMs = this.#environment.timeoutMs } = this.#query;
    const { signal } = this.#unsubscribed;
    const tenant = this.#tenant;
    let begunAtMs: number | undefined;
    const notes: string[] = [];
    const note = (text: string) => {
      if (notes.length < MAX_NOTES) notes.push(text.slice(0, MAX_NOTE_LENGTH));
    };
    const expired = () =>
      new Error(`Cannot query ${this.#query.description}: no response within ${formatDuration(timeoutMs)}`);
    try {
      using _permit = await limits.acquire(this.#query, tenant, { timeoutMs, signal });
      begunAtMs = clock.monotonicMs();
      using deadline = startDeadline(clock, timeoutMs, { signal, expired });
      const running = runForTenant(tenant, () => this.#query.run(deadline.signal, note));
      return { outcome: { samples: await raceAbort(running, deadline.signal), notes }, begunAtMs };
    } catch (cause) {
      const error = toError(cause);
      return { outcome: { error }, begunAtMs: begunAtMs ?? clock.monotonicMs() };
    }
  }

  /** Whether the source fails, and no subscriber counts failures. */
  get #isBackingOff(): boolean {
    const isSteady = this.#subscriptions.values().some((subscription) => subscription.isSteady);
    return this.#results.failure !== undefined && !isSteady;
  }

  /** The wait from the end of a failed query: one that has timed out is not repeated at once. */
  #backoffMs(): number {
    this.#spreadingWaits = 0;
    const intervalMs = this.#intervalMs;
    const maxMs = Math.max(intervalMs, Math.min(MAX_BACKOFF_INTERVALS * intervalMs, MAX_BACKOFF_MS));
    const { count = 1 } = this.#results.failure ?? {};
    const waitMs = Math.min(FIRST_BACKOFF_MS * 2 ** (count - 1), maxMs);
    return waitMs * (1 + JITTER * this.#environment.random());
  }

  /** The wait from the time at which the query was due. */
  #waitMs(): number {
    const { random } = this.#environment;
    const intervalMs = this.#intervalMs;
    if (this.#results.failure) {
      this.#spreadingWaits = 0;
      return intervalMs;
    }
    this.#spreadingWaits++;
    if (this.#spreadingWaits === 1) return intervalMs * (0.5 + random() / 2);
    if (this.#spreadingWaits === 2 && random() < 0.5) return intervalMs / 2; // into the other half of the interval
    return intervalMs;
  }
}

/** Distinct values of subscriptions, of which one object may have hundreds with the same value. */
class CountedSet<T> {
  readonly #counts = new Map<T, number>();

  add(value: T): void {
    this.#counts.set(value, (this.#counts.get(value) ?? 0) + 1);
  }

  /** Removes a value that was added, as often as it was added. */
  remove(value: T): void {
    const count = (this.#counts.get(value) ?? 0) - 1;
    if (count > 0) this.#counts.set(value, count);
    else this.#counts.delete(value);
  }

  values(): Iterable<T> {
    return this.#counts.keys();
  }
}
