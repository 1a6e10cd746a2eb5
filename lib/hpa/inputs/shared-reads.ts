import * as z from 'zod';
import { FairSemaphore } from '#lib/concurrency/semaphore.ts';
import { MalformedResponse } from '#lib/kubernetes/client/api-error.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { formatDuration } from '#lib/time/duration.ts';

interface SharedReadsOptions<Value> {
  readonly clock: Clock;
  /** The weight of a value; 1 by default. */
  readonly weigh?: (value: Value) => number;
  /** Concurrent reads, shared fairly among tenants; 32 by default. An API server serves 400 requests in all. */
  readonly maxConcurrent?: number;
  /** The least recently read values are evicted beyond this weight; 10,000 by default. */
  readonly maxWeight?: number;
}

interface SharedReadRequest {
  readonly maxAgeMs: number;
  readonly signal: AbortSignal;
  /** The tenant that shares permits fairly; by default the key. */
  readonly tenant?: string;
}

interface Read<Value> {
  readonly queriedAtMs: number;
  /** The smallest `maxAgeMs` of the callers so far. */
  maxAgeMs: number;
  readonly value: Promise<Value>;
  isSettled: boolean;
  weight: number;
}

/** Time limit of a read, well below the one of a decision. */
export const READ_TIMEOUT_MS = 10_000;
/** Maximum list size, enough for 60,000 pods; decoding takes ten times as much memory. */
export const MAX_LIST_BYTES = 32 * 1024 * 1024;
const MAX_CONCURRENT = 32;
const MAX_CACHED_WEIGHT = 10_000;

/**
 * Shares equal reads of one metrics API among callers within a time, and bounds concurrent reads.
 *
 * Waiting reads wait while the API responds to any; once it stalls, all of them fail.
 */
export class SharedReads<Value> {
  readonly #options: SharedReadsOptions<Value>;
  readonly #permits: FairSemaphore;
  readonly #reads = new Map<string, Read<Value>>();
  #weight = 0;
  /** Aborts reads that wait for a permit. */
  #waiting = new AbortController();
  #respondedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: SharedReadsOptions<Value>) {
    this.#options = options;
    this.#permits = new FairSemaphore(options.maxConcurrent ?? MAX_CONCURRENT);
  }

  /** The weight of all cached values; a read in progress weighs 1. */
  get weight(): number {
    return this.#weight;
  }

  /**
   * Returns the cached value of a key, or reads it.
   *
   * The signal of a caller does not abort a shared read. A read in progress is awaited whenever it started.
   *
   * @param maxAgeMs values read earlier than this are read again
   * @param read has to settle within {@link READ_TIMEOUT_MS}
   * @throws errors of `read`, for all callers that share it; failures are not cached
   */
  async get(
    key: string,
    { maxAgeMs, signal, tenant = key }: SharedReadRequest,
    read: () => Promise<Value>,
  ): Promise<Value> {
    const nowMs = this.#options.clock.monotonicMs();
    this.#dropOutdated(nowMs);
    const shared = this.#reads.get(key);
    if (shared && (!shared.isSettled || nowMs - shared.queriedAtMs < maxAgeMs)) {
      shared.maxAgeMs = Math.max(shared.maxAgeMs, maxAgeMs);
      if (shared.isSettled) return await shared.value;
      return await raceAbort(shared.value, signal);
    }
    if (shared) this.#drop(key, shared);
    const value = this.#read(tenant, read);
    const begun: Read<Value> = { queriedAtMs: nowMs, maxAgeMs, value, isSettled: false, weight: 1 };
    begun.value.then(
      (value) => this.#settle(begun, value),
      () => this.#drop(key, begun),
    );
    this.#reads.set(key, begun); // last: the least recently used are evicted first
    this.#weight += begun.weight;
    return await raceAbort(begun.value, signal);
  }

  async #read(tenant: string, read: () => Promise<Value>): Promise<Value> {
    using _permit = await this.#permits.acquire(tenant, this.#waiting.signal);
    const { clock } = this.#options;
    const startedAtMs = clock.monotonicMs();
    try {
      return await read();
    } finally {
      const nowMs = clock.monotonicMs();
      if (nowMs - startedAtMs < READ_TIMEOUT_MS) this.#respondedAtMs = nowMs;
      else if (this.#respondedAtMs < startedAtMs) this.#giveUpWaiting();
    }
  }

  /** Aborts waiting reads when no read has completed within the time limit. */
  #giveUpWaiting(): void {
    const waited = `the metrics API has not responded for ${formatDuration(READ_TIMEOUT_MS)}`;
    this.#waiting.abort(new Error(waited));
    this.#waiting = new AbortController();
  }

  #settle(read: Read<Value>, value: Value): void {
    read.isSettled = true;
    const { weigh = () => 1, maxWeight = MAX_CACHED_WEIGHT } = this.#options;
    const weight = weigh(value);
    this.#weight += weight - read.weight;
    read.weight = weight;
    for (const [other, one] of this.#reads) {
      if (this.#weight <= maxWeight) break;
      if (one.isSettled) this.#drop(other, one);
    }
  }

  /** Evicts outdated values, oldest first; one with a longer maximum age delays those after it. */
  #dropOutdated(nowMs: number): void {
    for (const [key, read] of this.#reads) {
      if (nowMs - read.queriedAtMs < read.maxAgeMs) return;
      if (read.isSettled) this.#drop(key, read);
    }
  }

  #drop(key: string, read: Read<Value>): void {
    if (this.#reads.get(key) !== read) return;
    this.#reads.delete(key);
    this.#weight -= read.weight;
  }
}

const LIST = z.object({
  kind: z.string().optional(),
  message: z.string().optional(),
  items: z.array(z.unknown()).nullish(),
});

/** Maximum length of a server message in errors. */
const MAX_MESSAGE_LENGTH = 200;

/**
 * The undecoded items of a list of a metrics API. A Status is never a list, whatever its code: a failure must not become
 * an empty list.
 *
 * @param of the expected items, such as `pods`
 * @throws {MalformedResponse} for a response that is not a list
 */
export function listItems(response: unknown, of: string): readonly unknown[] {
  const list = LIST.safeParse(response);
  if (!list.success) throw new MalformedResponse(`the response is not a list of ${of}`);
  const { kind, message = 'no reason given', items } = list.data;
  if (kind === 'Status')
    throw new MalformedResponse(
      `the response is a Status, not a list of ${of}: ${message.slice(0, MAX_MESSAGE_LENGTH)}`,
    );
  return items ?? [];
}
