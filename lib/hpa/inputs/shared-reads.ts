import * as z from 'zod';
import { FairSemaphore } from '#lib/concurrency/semaphore.ts';
import { MalformedResponse } from '#lib/kubernetes/client/api-error.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { formatDuration } from '#lib/time/duration.ts';

/** How reads of one metrics API are bounded. */
interface SharedReadsOptions<Value> {
  readonly clock: Clock;
  /** How much a value counts of `mostKept`; by default 1. */
  readonly weigh?: (value: Value) => number;
  /** So many are under way at once, of one tenant no more than it leaves free to others; by default 32, whatever the number of HPAs: an API server takes 400 requests in all. */
  readonly mostAtOnce?: number;
  /** The longest unread values go once all together count more than this; by default 10,000. */
  readonly mostKept?: number;
}

/** How old what was read may be, and for whom it is read. */
interface SharedReadRequest {
  readonly maxAgeMs: number;
  readonly signal: AbortSignal;
  /** Shares what is read at once with the other tenants; by default the key is one of its own. */
  readonly tenant?: string;
}

interface Read<Value> {
  readonly askedAtMs: number;
  /** As old as who asked first would have it be at the most. */
  maxAgeMs: number;
  readonly value: Promise<Value>;
  isSettled: boolean;
  weight: number;
}

/** Each read is over after this long, well before the decision that waits for it. */
export const READ_WITHIN_MS = 10_000;
/** A longer list is an error: it would take ten times its length while it is read. It holds 60,000 pods or more. */
export const LONGEST_LIST_BYTES = 32 * 1024 * 1024;
const MOST_AT_ONCE = 32;
const MOST_KEPT = 10_000;

/**
 * Reads of one metrics API: equal ones are made once for all that ask within a while, and not too many at once.
 *
 * Those that wait for others wait on while the API responds to any; once it hangs, they fail together.
 */
export class SharedReads<Value> {
  readonly #options: SharedReadsOptions<Value>;
  readonly #permits: FairSemaphore;
  readonly #reads = new Map<string, Read<Value>>();
  #kept = 0;
  /** Ends the wait of those that have no permit yet. */
  #waiting = new AbortController();
  #respondedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: SharedReadsOptions<Value>) {
    this.#options = options;
    this.#permits = new FairSemaphore(options.mostAtOnce ?? MOST_AT_ONCE);
  }

  /** What all that is kept weighs; each read that is under way 1. */
  get kept(): number {
    return this.#kept;
  }

  /**
   * What one of them has read, under a key that says what is read.
   *
   * A read is not bound to the signal of who asks first, for others wait for it, too; what is under way is waited for
   * however long ago it began.
   *
   * @param maxAgeMs what began longer ago is read again
   * @param read has to end within {@link READ_WITHIN_MS}
   * @throws what `read` throws, for everybody who waited for it; nothing is kept of a failure
   */
  async get(
    key: string,
    { maxAgeMs, signal, tenant = key }: SharedReadRequest,
    read: () => Promise<Value>,
  ): Promise<Value> {
    const nowMs = this.#options.clock.monotonicMs();
    this.#dropOutdated(nowMs);
    const known = this.#reads.get(key);
    if (known && (!known.isSettled || nowMs - known.askedAtMs < maxAgeMs)) {
      known.maxAgeMs = Math.max(known.maxAgeMs, maxAgeMs);
      return await raceAbort(known.value, signal);
    }
    if (known) this.#drop(key, known);
    const value = this.#read(tenant, read);
    const begun: Read<Value> = { askedAtMs: nowMs, maxAgeMs, value, isSettled: false, weight: 1 };
    begun.value.then(
      (value) => this.#settle(begun, value),
      () => this.#drop(key, begun),
    );
    this.#reads.set(key, begun); // at the end: the longest unread go first
    this.#kept += begun.weight;
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
      if (nowMs - startedAtMs < READ_WITHIN_MS) this.#respondedAtMs = nowMs;
      else if (this.#respondedAtMs < startedAtMs) this.#giveUpWaiting();
    }
  }

  /** Nothing was responded to for as long as a read may take. */
  #giveUpWaiting(): void {
    const waited = `the metrics API has responded to nothing for ${formatDuration(READ_WITHIN_MS)}`;
    this.#waiting.abort(new Error(waited));
    this.#waiting = new AbortController();
  }

  #settle(read: Read<Value>, value: Value): void {
    read.isSettled = true;
    const { weigh = () => 1, mostKept = MOST_KEPT } = this.#options;
    const weight = weigh(value);
    this.#kept += weight - read.weight;
    read.weight = weight;
    for (const [other, one] of this.#reads) {
      if (this.#kept <= mostKept) break;
      if (one.isSettled) this.#drop(other, one);
    }
  }

  /** The first are the oldest; who asked for one that is kept longer holds up those behind it for that long. */
  #dropOutdated(nowMs: number): void {
    for (const [key, read] of this.#reads) {
      if (nowMs - read.askedAtMs < read.maxAgeMs) return;
      if (read.isSettled) this.#drop(key, read);
    }
  }

  #drop(key: string, read: Read<Value>): void {
    if (this.#reads.get(key) !== read) return;
    this.#reads.delete(key);
    this.#kept -= read.weight;
  }
}

const LIST = z.object({
  kind: z.string().optional(),
  message: z.string().optional(),
  items: z.array(z.unknown()).nullish(),
});

/** So much of what a server says is told. */
const LONGEST_MESSAGE = 200;

/**
 * The items of a list of a metrics API, unread. A Status is no list, whatever the code that it came with: what failed is
 * not taken for a list of nothing.
 *
 * @param of what the list should be of, as in `pods`
 * @throws {MalformedResponse} for what is no list
 */
export function listItems(response: unknown, of: string): readonly unknown[] {
  const list = LIST.safeParse(response);
  if (!list.success) throw new MalformedResponse(`the response is no list of ${of}`, { cause: list.error });
  const { kind, message = 'no reason given', items } = list.data;
  if (kind === 'Status')
    throw new MalformedResponse(
      `the response is no list of ${of} but a Status: ${message.slice(0, LONGEST_MESSAGE)}`,
    );
  return items ?? [];
}
