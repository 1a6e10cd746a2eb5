import type { Query } from '#lib/sources/query.ts';
import type { LineBudgets } from '#lib/telemetry/line-budget.ts';
import { Poll, type PollEnvironment, type PollSubscription } from './poll.ts';
import { PollLimits } from './poll-limits.ts';
import type { PollFailure, PollRecord, Reading } from './poll-results.ts';

/** What collections work with. */
export interface CollectionEnvironment extends PollEnvironment {
  /** How much the log says of the failures of each tenant; by default all of them. */
  readonly tenantLineBudgets?: LineBudgets;
  /** Those of the process, shared with its other collections; by default it is alone. */
  readonly limits?: PollLimits;
}

/** What somebody wants to know, and how often. */
export interface Collector extends PollSubscription {
  readonly query: Query;
  /** For how long what was told counts, from when the response was there; three intervals unless told otherwise. */
  readonly validForMs?: number;
}

/** How a collector fares, for those who look at it. */
export interface CollectorReport {
  readonly owner: string;
  readonly name: string;
  readonly collector: Collector;
  /** What was told last, whether it still counts or not. */
  readonly reading: Reading | undefined;
  readonly isValid: boolean;
  readonly failure: PollFailure | undefined;
  readonly nextInMs: number;
}

interface Running {
  readonly collector: Collector;
  readonly poll: Poll;
}

/** A value is missing after so many intervals without a newer one. */
const VALID_INTERVALS = 3;
/** A replica is ready after this long, though some sources have not responded. */
const WARM_AFTER_MS = 30_000;

/**
 * Asks sources ahead of requests, and holds what they told for as long as it counts.
 *
 * Collectors belong to owners. Equal queries, of one owner or of many, are asked once, at the shortest of their
 * intervals; each judges by its own how long the result counts.
 */
export class Collection implements AsyncDisposable {
  readonly #environment: CollectionEnvironment;
  readonly #limits: PollLimits;
  readonly #startedAtMs: number;
  readonly #polls = new Map<string, Poll>();
  readonly #owners = new Map<string, ReadonlyMap<string, Running>>();

  constructor(environment: CollectionEnvironment) {
    this.#environment = environment;
    this.#limits = environment.limits ?? new PollLimits(environment.clock);
    this.#startedAtMs = environment.clock.monotonicMs();
  }

  /** Has these collectors of an owner run, by their names, and no others of its; one that did not change goes on. */
  replace(owner: string, collectors: ReadonlyMap<string, Collector>): void {
    const before = this.#owners.get(owner);
    const running = new Map<string, Running>();
    for (const [name, collector] of collectors) {
      const kept = before?.get(name);
      const isSame = kept !== undefined && isEqual(kept.collector, collector);
      running.set(name, isSame ? kept : this.#start(collector));
    }
    for (const [name, left] of before ?? []) if (running.get(name) !== left) this.#stop(left);
    if (running.size > 0) this.#owners.set(owner, running);
    else this.#owners.delete(owner);
  }

  /** What a collector's source told last, if it still counts: never an old value for a missing one. */
  reading(owner: string, name: string): Reading | undefined {
    const running = this.#owners.get(owner)?.get(name);
    return running && this.#validReading(running);
  }

  /** Why there is no newer value; `undefined` while the source responds, and where there is no such collector. */
  failure(owner: string, name: string): PollFailure | undefined {
    return this.#owners.get(owner)?.get(name)?.poll.results.failure;
  }

  /** How often a collector's source was asked so far, by who wanted to know. */
  pollCount(owner: string, name: string): number {
    return this.#owners.get(owner)?.get(name)?.poll.results.pollCount ?? 0;
  }

  /** Has a collector's source asked at once, or again as soon as it has responded. */
  pollNow(owner: string, name: string): void {
    this.#owners.get(owner)?.get(name)?.poll.pollNow();
  }

  /** How requests of a collector's source have gone; `undefined` before the first has ended. */
  record(owner: string, name: string): PollRecord | undefined {
    return this.#owners.get(owner)?.get(name)?.poll.results.record;
  }

  /** Its query as it is asked: the first of those that were equal. */
  query(owner: string, name: string): Query | undefined {
    return this.#owners.get(owner)?.get(name)?.poll.query;
  }

  /** In how long a collector's source is asked again, in milliseconds. */
  nextInMs(owner: string, name: string): number | undefined {
    return this.#owners.get(owner)?.get(name)?.poll.nextInMs;
  }

  /** Whether every collector has been asked once, or has had 30 s for it. */
  get isWarm(): boolean {
    if (this.#environment.clock.monotonicMs() - this.#startedAtMs >= WARM_AFTER_MS) return true;
    return this.#polls.values().every((poll) => poll.results.pollCount > 0);
  }

  /** How many queries are asked; fewer than there are collectors where some are equal. */
  get queryCount(): number {
    return this.#polls.size;
  }

  *reports(): IterableIterator<CollectorReport> {
    for (const [owner, collectors] of this.#owners) {
      for (const [name, running] of collectors) {
        const { collector, poll } = running;
        const { reading, failure } = poll.results;
        const isValid = this.#validReading(running) !== undefined;
        yield { owner, name, collector, reading, isValid, failure, nextInMs: poll.nextInMs };
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const owner of [...this.#owners.keys()]) this.replace(owner, new Map());
  }

  #validReading({ collector, poll }: Running): Reading | undefined {
    const { reading } = poll.results;
    if (!reading) return undefined;
    const { validForMs = VALID_INTERVALS * collector.intervalMs } = collector;
    const ageMs = this.#environment.clock.monotonicMs() - reading.receivedAtMonotonicMs;
    return ageMs < validForMs ? reading : undefined;
  }

  #start(collector: Collector): Running {
    const { query, tenant } = collector;
    const poll = this.#polls.get(query.key) ?? this.#newPoll(query, tenant);
    this.#polls.set(query.key, poll);
    const running = { collector, poll };
    poll.subscribe(running, collector);
    return running;
  }

  #newPoll(query: Query, tenant: string | undefined): Poll {
    const lines = tenant === undefined ? undefined : this.#environment.tenantLineBudgets?.of(tenant);
    return new Poll(query, { ...this.#environment, limits: this.#limits, lines });
  }

  #stop(running: Running): void {
    if (running.poll.unsubscribe(running)) this.#polls.delete(running.poll.query.key);
  }
}

function isEqual(a: Collector, b: Collector): boolean {
  return (
    a.query.key === b.query.key &&
    a.intervalMs === b.intervalMs &&
    a.validForMs === b.validForMs &&
    a.isSteady === b.isSteady &&
    a.onPolled === b.onPolled
  );
}
