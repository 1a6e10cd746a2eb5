import { EmptyResponse } from '#lib/sources/empty-response.ts';
import type { Query, Sample } from '#lib/sources/query.ts';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { raceAbort } from '#lib/time/race-abort.ts';

/** What a source told last. */
export interface Reading {
  readonly samples: readonly Sample[];
  /** What else is to be known of it, for people. */
  readonly notes: readonly string[];
  /** When the response was there, by the wall clock and by the monotonic one. */
  readonly receivedAtMs: number;
  readonly receivedAtMonotonicMs: number;
}

/** How a source fails, for as long as it does. */
export interface PollFailure {
  readonly error: Error;
  /** When the first of the failures in a row was seen, by the wall clock. */
  readonly sinceMs: number;
  readonly count: number;
}

/** How requests have gone, for those who look at the program. */
export interface PollRecord {
  /** How long the last request took. */
  readonly durationMs: number;
  /** How much later than it was due the last request began. */
  readonly latenessMs: number;
  /** How many requests have failed so far. */
  readonly failedCount: number;
  /** How many responses so far had no value, whether that is an error or not. */
  readonly emptyCount: number;
}

/** What polls work with. */
export interface PollEnvironment {
  readonly clock: Clock;
  readonly logger: Logger;
  /** A number in [0, 1): spreads queries over their interval. */
  readonly random: () => number;
  /** Bounds one request whose query says nothing else. */
  readonly timeoutMs: number;
  /** Told of every request that ended, with its error where it failed. */
  readonly onAsked: (
    query: Query,
    durationMs: number,
    error: Error | undefined,
    reading: Reading | undefined,
  ) => void;
}

/** How somebody wants a query asked. */
export interface PollWant {
  readonly intervalMs: number;
  /** Asks a source that fails no less often than one that responds: somebody counts its failures. */
  readonly isSteady?: boolean | undefined;
  /** Called whenever a request has ended, with a result or without. */
  readonly onAsked?: (() => void) | undefined;
}

/** A source that goes on failing is asked after 1, 2, then 4 intervals, but at least once in so long, or an interval. */
const LONGEST_WAIT_MS = 60_000;
const MOST_INTERVALS = 4;
const MAX_NOTES = 10;
const MAX_NOTE_LENGTH = 500;
/** How much a wait after a failure is drawn out at random, so that not all come back at once. */
const JITTER = 0.2;

/**
 * Asks one query for as long as somebody wants its result: at once, then at the shortest of the intervals that are
 * wanted. The second request follows after a part of the interval, drawn at random, so that the queries that began
 * together are spread. One request is under way at a time.
 */
export class Poll {
  readonly #query: Query;
  readonly #environment: PollEnvironment;
  readonly #ended = new AbortController();
  readonly #wants = new Map<object, PollWant>();
  #timer: Disposable | undefined;
  #nextAtMonotonicMs: number;
  #isAsking = false;
  #isWantedAgain = false;
  #requests = 0;
  #askedCount = 0;
  #record: PollRecord | undefined;
  #reading: Reading | undefined;
  #failure: PollFailure | undefined;
  readonly #failures: FailureLog;

  constructor(query: Query, environment: PollEnvironment) {
    this.#query = query;
    this.#environment = environment;
    this.#failures = new FailureLog({
      logger: environment.logger,
      failing: 'A source fails; it is asked again',
      recovered: 'A source responds again',
    });
    this.#nextAtMonotonicMs = environment.clock.monotonicMs();
  }

  get query(): Query {
    return this.#query;
  }

  /** What was told last, however old it is. */
  get reading(): Reading | undefined {
    return this.#reading;
  }

  /** `undefined` while the last request succeeded, and before the first has ended. */
  get failure(): PollFailure | undefined {
    return this.#failure;
  }

  /** Whether a request has ended, with a result or without. */
  get wasAsked(): boolean {
    return this.#reading !== undefined || this.#failure !== undefined;
  }

  /** How many requests have ended. */
  get askedCount(): number {
    return this.#askedCount;
  }

  /** `undefined` before the first request has ended. */
  get record(): PollRecord | undefined {
    return this.#record;
  }

  /** In how long the next request begins, in milliseconds; 0 while one is under way. */
  get nextInMs(): number {
    if (this.#isAsking) return 0;
    return Math.max(0, this.#nextAtMonotonicMs - this.#environment.clock.monotonicMs());
  }

  /** Has the query asked at least once an interval, from now on; each user wants one interval. */
  want(user: object, want: PollWant): void {
    this.#wants.set(user, want);
    const latestMs = this.#environment.clock.monotonicMs() + this.#intervalMs;
    if (this.#requests === 0) this.#schedule(this.#nextAtMonotonicMs);
    else if (!this.#failure && this.#nextAtMonotonicMs > latestMs) this.#schedule(latestMs);
  }

  /** Asks at once, or again as soon as there is a response. */
  askSoon(): void {
    if (this.#isAsking) this.#isWantedAgain = true;
    else this.#schedule(this.#environment.clock.monotonicMs());
  }

  /** @returns whether nobody wants the result any more: the poll has ended then, with the request that is under way */
  leave(user: object): boolean {
    this.#wants.delete(user);
    if (this.#wants.size > 0) return false;
    this.#timer?.[Symbol.dispose]();
    this.#ended.abort(new Error('nobody wants to know any more'));
    return true;
  }

  get #intervalMs(): number {
    return Math.min(...[...this.#wants.values()].map(({ intervalMs }) => intervalMs));
  }

  #schedule(atMonotonicMs: number): void {
    this.#nextAtMonotonicMs = atMonotonicMs;
    if (this.#isAsking) return; // what comes after it is reckoned when it ends
    this.#timer?.[Symbol.dispose]();
    const delayMs = Math.max(0, atMonotonicMs - this.#environment.clock.monotonicMs());
    this.#timer = this.#environment.clock.startTimer(delayMs, () => void this.#ask());
  }

  async #ask(): Promise<void> {
    const { clock, onAsked } = this.#environment;
    const { timeoutMs = this.#environment.timeoutMs } = this.#query;
    const startedAtMs = clock.monotonicMs();
    const latenessMs = Math.max(0, startedAtMs - this.#nextAtMonotonicMs);
    this.#isAsking = true;
    this.#requests++;
    let error: Error | undefined;
    try {
      const expired = () =>
        new Error(`${this.#query.description}: no response within ${formatDuration(timeoutMs)}`);
      using deadline = startDeadline(clock, timeoutMs, { signal: this.#ended.signal, expired });
      const notes: string[] = [];
      const note = (text: string) => {
        if (notes.length < MAX_NOTES) notes.push(text.slice(0, MAX_NOTE_LENGTH));
      };
      this.#succeed(await raceAbort(this.#query.ask(deadline.signal, note), deadline.signal), notes);
    } catch (cause) {
      error = cause instanceof Error ? cause : new Error(String(cause));
    }
    this.#isAsking = false;
    if (this.#ended.signal.aborted) return; // nobody failed: it is we who left
    if (error) this.#fail(error);
    this.#askedCount++;
    const durationMs = clock.monotonicMs() - startedAtMs;
    const { failedCount = 0, emptyCount = 0 } = this.#record ?? {};
    this.#record = {
      ...{ durationMs, latenessMs, failedCount: failedCount + (error ? 1 : 0) },
      emptyCount: emptyCount + (this.#isEmpty(error) ? 1 : 0),
    };
    onAsked(this.#query, durationMs, error, this.#reading);
    const waitMs = this.#isWantedAgain ? 0 : this.#waitMs();
    this.#isWantedAgain = false;
    this.#schedule(Math.max(clock.monotonicMs(), startedAtMs + waitMs));
    for (const want of this.#wants.values()) want.onAsked?.();
  }

  /** Whether the last response had no value. */
  #isEmpty(error: Error | undefined): boolean {
    if (error) return error instanceof EmptyResponse;
    return this.#reading?.samples.some(({ isStandIn }) => isStandIn) ?? false;
  }

  #succeed(samples: readonly Sample[], notes: readonly string[]): void {
    const { clock } = this.#environment;
    this.#reading = {
      ...{ samples, notes },
      receivedAtMs: clock.nowMs(),
      receivedAtMonotonicMs: clock.monotonicMs(),
    };
    this.#failures.succeed({ query: this.#query.description });
    this.#failure = undefined;
  }

  #fail(error: Error): void {
    const { clock } = this.#environment;
    this.#failures.fail(error, { query: this.#query.description });
    const { sinceMs = clock.nowMs(), count = 0 } = this.#failure ?? {};
    this.#failure = { error, sinceMs, count: count + 1 };
  }

  #waitMs(): number {
    const { random } = this.#environment;
    const intervalMs = this.#intervalMs;
    const isSteady = this.#wants.values().some((want) => want.isSteady);
    if (this.#failure && !isSteady) {
      const intervals = Math.min(2 ** (this.#failure.count - 1), MOST_INTERVALS);
      const waitMs = Math.max(intervalMs, Math.min(intervals * intervalMs, LONGEST_WAIT_MS));
      return waitMs * (1 + JITTER * random());
    }
    return this.#requests === 1 ? intervalMs * (0.5 + random() / 2) : intervalMs;
  }
}
