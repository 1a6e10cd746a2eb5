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

/** What polls work with. */
export interface PollEnvironment {
  readonly clock: Clock;
  readonly logger: Logger;
  /** A number in [0, 1): spreads queries over their interval. */
  readonly random: () => number;
  /** Bounds one request whose query says nothing else. */
  readonly timeoutMs: number;
  /** Told of every request that ended, with its error where it failed. */
  readonly onPolled: (
    query: Query,
    durationMs: number,
    error: Error | undefined,
    reading: Reading | undefined,
  ) => void;
}

/** What a poll has in common with others of its collection. */
interface SharedByPolls {
  readonly limits: PollLimits;
  readonly lines: LineBudget | undefined;
}

/** How somebody wants a query asked. */
export interface PollSubscription {
  readonly intervalMs: number;
  /** Who is to share the source fairly with others, by the name of a namespace; absent where nobody is told apart. */
  readonly tenant?: string | undefined;
  /** Asks a source that fails no less often than one that responds: somebody counts its failures. */
  readonly isSteady?: boolean | undefined;
  /** Called whenever a request has ended, with a result or without. */
  readonly onPolled?: (() => void) | undefined;
}

/** A source that goes on failing is asked after 1, 2, then 4 intervals, but at least once in so long, or an interval. */
const MAX_BACKOFF_MS = 60_000;
const MAX_BACKOFF_INTERVALS = 4;
const MAX_NOTES = 10;
const MAX_NOTE_LENGTH = 500;
/** How much a wait after a failure is drawn out at random, so that not all come back at once. */
const JITTER = 0.2;

/**
 * Asks one query for as long as somebody wants its result: at once, then at the shortest of the intervals that are
 * wanted. The two requests after the first, and after one that succeeds where others failed, each follow after half an interval
 * or more, drawn at random, so that queries that began or recovered together are spread over all of it; a process that
 * stands still for a while leaves them spread. One request is under way at a time.
 */
export class Poll {
  readonly #query: Query;
  readonly #environment: PollEnvironment & SharedByPolls;
  readonly #unsubscribed = new AbortController();
  readonly #subscriptions = new Map<object, PollSubscription>();
  readonly #results: PollResults;
  #timer: Disposable | undefined;
  #nextAtMonotonicMs: number;
  #isPolling = false;
  #isPollRequested = false;
  /** How many waits have led away from the times of others that began or recovered together with it. */
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

  /** What has come of its requests. */
  get results(): Pick<PollResults, 'reading' | 'failure' | 'pollCount' | 'record'> {
    return this.#results;
  }

  /** In how long the next request begins, in milliseconds; 0 while one is under way, which was due before. */
  get nextInMs(): number {
    return Math.max(0, this.#nextAtMonotonicMs - this.#environment.clock.monotonicMs());
  }

  /** Has the query asked at least once an interval, from now on; each user wants one interval. */
  subscribe(user: object, want: PollSubscription): void {
    this.#subscriptions.set(user, want);
    const latestMs = this.#environment.clock.monotonicMs() + this.#intervalMs;
    if (!this.#hasBegun) this.#schedule(this.#nextAtMonotonicMs);
    else if (!this.#results.failure && this.#nextAtMonotonicMs > latestMs) this.#schedule(latestMs);
  }

  /** Asks at once, or again as soon as there is a response. */
  pollNow(): void {
    if (this.#isPolling) this.#isPollRequested = true;
    else this.#schedule(this.#environment.clock.monotonicMs());
  }

  /** @returns whether nobody wants the result any more: the poll has ended then, with the request that is under way */
  unsubscribe(user: object): boolean {
    this.#subscriptions.delete(user);
    if (this.#subscriptions.size > 0) return false;
    this.#timer?.[Symbol.dispose]();
    this.#unsubscribed.abort(new Error('nobody wants to know any more'));
    return true;
  }

  /** A query that several want is asked as if they were one of their own: none of them keeps it from the others. */
  get #tenant(): string | undefined {
    const tenants = new Set([...this.#subscriptions.values()].flatMap(({ tenant }) => tenant ?? []));
    return tenants.size === 0 ? undefined : [...tenants].sort().join(' ');
  }

  get #intervalMs(): number {
    return Math.min(...[...this.#subscriptions.values()].map(({ intervalMs }) => intervalMs));
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
    if (this.#unsubscribed.signal.aborted) return; // nobody failed: it is we who left
    const durationMs = clock.monotonicMs() - begunAtMs;
    this.#results.add(outcome, { durationMs, latenessMs: Math.max(0, begunAtMs - dueAtMs) });
    onPolled(this.#query, durationMs, 'error' in outcome ? outcome.error : undefined, this.#results.reading);
    // From when it was due: those that one hold-up made late together would go on together from when they began.
    const fromMs = startedAtMs - dueAtMs < this.#intervalMs ? dueAtMs : startedAtMs;
    if (fromMs > dueAtMs) this.#spreadingWaits = 0;
    const waitMs = this.#isPollRequested ? 0 : this.#waitMs();
    this.#isPollRequested = false;
    this.#schedule(Math.max(clock.monotonicMs(), fromMs + waitMs));
    for (const want of this.#subscriptions.values()) want.onPolled?.();
  }

  /** Polls once it may, for which it has all of its time however long it waited. */
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
      new Error(`${this.#query.description}: no response within ${formatDuration(timeoutMs)}`);
    try {
      using _permit = await limits.acquire(this.#query, tenant, { timeoutMs, signal });
      begunAtMs = clock.monotonicMs();
      using deadline = startDeadline(clock, timeoutMs, { signal, expired });
      const asking = runForTenant(tenant, () => this.#query.run(deadline.signal, note));
      return { outcome: { samples: await raceAbort(asking, deadline.signal), notes }, begunAtMs };
    } catch (cause) {
      const error = toError(cause);
      return { outcome: { error }, begunAtMs: begunAtMs ?? clock.monotonicMs() };
    }
  }

  #waitMs(): number {
    const { random } = this.#environment;
    const { failure } = this.#results;
    const intervalMs = this.#intervalMs;
    const isSteady = this.#subscriptions.values().some((want) => want.isSteady);
    if (failure) {
      this.#spreadingWaits = 0;
      if (isSteady) return intervalMs;
      const intervals = Math.min(2 ** (failure.count - 1), MAX_BACKOFF_INTERVALS);
      const waitMs = Math.max(intervalMs, Math.min(intervals * intervalMs, MAX_BACKOFF_MS));
      return waitMs * (1 + JITTER * random());
    }
    this.#spreadingWaits++;
    if (this.#spreadingWaits === 1) return intervalMs * (0.5 + random() / 2);
    if (this.#spreadingWaits === 2 && random() < 0.5) return intervalMs / 2; // into the other half of the interval
    return intervalMs;
  }
}
