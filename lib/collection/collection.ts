import type { Query } from '#lib/sources/query.ts';
import type { LineBudgets } from '#lib/telemetry/line-budget.ts';
import { Poll, type PollEnvironment, type PollSubscription } from './poll.ts';
import { PollLimits } from './poll-limits.ts';
import type { PollFailure, PollRecord, Reading } from './poll-results.ts';

interface CollectionEnvironment extends PollEnvironment {
  /** Limits the log lines about failures per tenant; unlimited by default. */
  readonly tenantLineBudgets?: LineBudgets;
  /** Limits that the collections of a process share. */
  readonly limits?: PollLimits;
}

/** A query of an owner that is run at an interval. */
export interface Collector extends PollSubscription {
  readonly query: Query;
  /** How long a reading is valid after it was received; by default three intervals. */
  readonly validForMs?: number;
}

/** The state of a collector, for debug pages. */
export interface CollectorReport {
  readonly owner: string;
  readonly name: string;
  readonly collector: Collector;
  /** The last reading, valid or not. */
  readonly reading: Reading | undefined;
  readonly isValid: boolean;
  readonly failure: PollFailure | undefined;
  readonly nextInMs: number;
}

interface Running {
  readonly collector: Collector;
  readonly poll: Poll;
}

/** Intervals without a newer reading after which the reading is invalid. */
const VALID_INTERVALS = 3;
/** Time after which a replica is ready even if some sources have not responded. */
const WARM_AFTER_MS = 30_000;

/**
 * Polls sources ahead of requests, and caches their readings while they are valid.
 *
 * Collectors belong to owners. Collectors with equal queries share one poll at the shortest of their intervals; each
 * applies its own validity.
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

  /** Replaces all collectors of an owner, which are given by name. Unchanged collectors continue. */
  replace(owner: string, collectors: ReadonlyMap<string, Collector>): void {
    const before = this.#owners.get(owner);
    const running = new Map<string, Running>();
    for (const [name, collector] of collectors) {
      const current = before?.get(name);
      const isSame = current !== undefined && isEqual(current.collector, collector);
      running.set(name, isSame ? current : this.#start(collector));
    }
    for (const [name, left] of before ?? []) if (running.get(name) !== left) this.#stop(left);
    if (running.size > 0) this.#owners.set(owner, running);
    else this.#owners.delete(owner);
  }

  /** Returns the last reading of a collector if it is valid. */
  reading(owner: string, name: string): Reading | undefined {
    const running = this.#owners.get(owner)?.get(name);
    return running && this.#validReading(running);
  }

  /** Returns why there is no newer reading; `undefined` if the last query succeeded or the collector does not exist. */
  failure(owner: string, name: string): PollFailure | undefined {
    return this.#owners.get(owner)?.get(name)?.poll.results.failure;
  }

  /** Number of completed queries of the poll of a collector, which collectors with equal queries share. */
  pollCount(owner: string, name: string): number {
    return this.#owners.get(owner)?.get(name)?.poll.results.pollCount ?? 0;
  }

  /** Polls the source of a collector immediately, or again after the query that is running. */
  pollNow(owner: string, name: string): void {
    this.#owners.get(owner)?.get(name)?.poll.pollNow();
  }

  /** Statistics of the queries of a collector; `undefined` before the first has completed. */
  record(owner: string, name: string): PollRecord | undefined {
    return this.#owners.get(owner)?.get(name)?.poll.results.record;
  }

  /** The query that is run for a collector: the first of equal ones. */
  query(owner: string, name: string): Query | undefined {
    return this.#owners.get(owner)?.get(name)?.poll.query;
  }

  /** Milliseconds until the next query of a collector. */
  nextInMs(owner: string, name: string): number | undefined {
    return this.#owners.get(owner)?.get(name)?.poll.nextInMs;
  }

  /** Whether every query has completed once, or 30 s have passed. */
  get isWarm(): boolean {
    if (this.#environment.clock.monotonicMs() - this.#startedAtMs >= WARM_AFTER_MS) return true;
    return this.#polls.values().every((poll) => poll.results.pollCount > 0);
  }

  /** Number of distinct queries. */
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
