import {
  ANONYMOUS,
  type ApiContext,
  type BufferedResponse,
  type Middleware,
} from '#lib/apiserver/http/api-context.ts';
import { timedOut, tooManyRequests } from '#lib/apiserver/http/status-error.ts';
import type { Clock } from '#lib/time/clock.ts';

interface ResponseBudgetOptions {
  /** Maximum bytes of responses that clients have not read yet. */
  readonly maxBytes: number;
  readonly clock: Clock;
  /** Called for each response that is refused, or cut off for another. */
  readonly onRefused: () => void;
}

/** Memory of responses that are made for one client, and of what is on its way into sockets. */
export const DEFAULT_MAX_BUFFERED_BYTES = 64 * 1024 * 1024;

/** How long a client may take to read while others wait: most take milliseconds. */
const CONTENDED_READ_MS = 2_000;
/** How long a response waits for memory before its client gets 429. */
const WAIT_MS = 10_000;
const RETRY_AFTER_SECONDS = 1;

class Entry implements BufferedResponse {
  readonly client: string;
  readonly cutOff: () => void;
  bytes = 0;
  /** When its client could begin to read. */
  deliveringSinceMs: number | undefined;
  isOver = false;
  waiting: { readonly bytes: number; readonly timer: Disposable; end(error?: Error): void } | undefined;
  readonly #budget: ResponseBudget;

  constructor(budget: ResponseBudget, client: string, cutOff: () => void) {
    this.#budget = budget;
    this.client = client;
    this.cutOff = cutOff;
  }

  reserve(bytes: number): Promise<void> | void {
    return this.#budget.reserve(this, bytes);
  }

  deliver(): void {
    this.#budget.deliver(this);
  }

  [Symbol.dispose](): void {
    this.#budget.leave(this);
  }
}

/**
 * Bounds the memory of responses. Beyond the bound responses wait, first those of the client with the least memory.
 * While any waits, slow readers of the client with the most memory are cut off, so a client that reads nothing blocks
 * only itself.
 *
 * Not a `FairSemaphore`: sizes are discovered late and corrected, one response longer than the bound is admitted alone,
 * and unread responses are cut off for others.
 */
export class ResponseBudget {
  readonly #options: ResponseBudgetOptions;
  readonly #bytesByClient = new Map<string, number>();
  /** In the order in which they began. */
  readonly #delivering = new Set<Entry>();
  readonly #waiting = new Set<Entry>();
  #bufferedBytes = 0;
  #cutOffTimer: Disposable | undefined;

  constructor(options: ResponseBudgetOptions) {
    this.#options = options;
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** @param cutOff aborts the response and frees its memory */
  enter(client: string, cutOff: () => void): BufferedResponse {
    return new Entry(this, client, cutOff);
  }

  /** For this and the methods below, see {@link BufferedResponse}. */
  reserve(entry: Entry, bytes: number): Promise<void> | void {
    if (entry.isOver) throw timedOut();
    if (bytes === 0 || entry.bytes > 0 || (this.#waiting.size === 0 && this.#hasCapacity(bytes))) {
      this.#setBytes(entry, bytes);
      this.#admitWaiting();
      return;
    }
    return new Promise((resolve, reject) => {
      const end = (error?: Error) => {
        timer[Symbol.dispose]();
        this.#waiting.delete(entry);
        if (error) reject(error);
        else resolve();
      };
      const timer = this.#options.clock.startTimer(WAIT_MS, () => {
        this.#options.onRefused();
        end(tooManyRequests(RETRY_AFTER_SECONDS));
        this.#admitWaiting();
      });
      entry.waiting = { bytes, timer, end };
      this.#waiting.add(entry);
      this.#admitWaiting();
      this.#cutOffSlow();
    });
  }

  deliver(entry: Entry): void {
    if (entry.isOver || entry.bytes === 0) return;
    entry.deliveringSinceMs = this.#options.clock.monotonicMs();
    this.#delivering.add(entry);
    if (this.#waiting.size > 0) this.#cutOffSlow();
  }

  leave(entry: Entry): void {
    if (entry.isOver) return;
    entry.isOver = true;
    this.#delivering.delete(entry);
    if (this.#waiting.has(entry)) entry.waiting?.end(timedOut()); // never sent
    this.#setBytes(entry, 0);
    this.#admitWaiting();
  }

  /** A response longer than the bound is admitted alone. */
  #hasCapacity(bytes: number): boolean {
    return this.#bufferedBytes === 0 || this.#bufferedBytes + bytes <= this.#options.maxBytes;
  }

  #setBytes(entry: Entry, bytes: number): void {
    const change = bytes - entry.bytes;
    if (change === 0) return;
    entry.bytes = bytes;
    this.#bufferedBytes += change;
    const ofClient = (this.#bytesByClient.get(entry.client) ?? 0) + change;
    if (ofClient > 0) this.#bytesByClient.set(entry.client, ofClient);
    else this.#bytesByClient.delete(entry.client);
  }

  #admitWaiting(): void {
    for (;;) {
      const next = this.#nextWaiting();
      if (!next?.waiting || !this.#hasCapacity(next.waiting.bytes)) break;
      this.#setBytes(next, next.waiting.bytes);
      next.waiting.end();
    }
    if (this.#waiting.size === 0) this.#cancelCutOff();
  }

  /** The first response of the client with the least memory; the others wait for it, however little they need. */
  #nextWaiting(): Entry | undefined {
    let [next, minimum]: [Entry | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
    for (const entry of this.#waiting) {
      const buffered = this.#bytesByClient.get(entry.client) ?? 0;
      if (buffered < minimum) [next, minimum] = [entry, buffered];
    }
    return next;
  }

  /** While responses wait, cuts off clients that had enough time to read; sets a timer for the next one. */
  #cutOffSlow(): void {
    this.#cancelCutOff();
    const { clock, onRefused } = this.#options;
    while (this.#waiting.size > 0) {
      const slowest = this.#slowestOfMost();
      if (!slowest) return; // all memory belongs to responses that are still being made
      const hadMs = clock.monotonicMs() - (slowest.deliveringSinceMs ?? 0);
      if (hadMs < CONTENDED_READ_MS) {
        this.#cutOffTimer = clock.startTimer(CONTENDED_READ_MS - hadMs, () => this.#cutOffSlow());
        return;
      }
      onRefused();
      this.leave(slowest);
      slowest.cutOff();
    }
  }

  /** The oldest response of the client with the most memory, among those that clients are reading. */
  #slowestOfMost(): Entry | undefined {
    let [slowest, max] = [undefined as Entry | undefined, 0];
    for (const entry of this.#delivering) {
      const buffered = this.#bytesByClient.get(entry.client) ?? 0;
      if (buffered > max) [slowest, max] = [entry, buffered];
    }
    return slowest;
  }

  #cancelCutOff(): void {
    this.#cutOffTimer?.[Symbol.dispose]();
    this.#cutOffTimer = undefined;
  }
}

/** Counts the memory of a response for its user, or for the client's address where the user is anonymous. */
export function accountResponse(budget: ResponseBudget): Middleware {
  return (context, next) => {
    const { state, res } = context;
    const buffered = budget.enter(clientOf(context), () => res.destroy());
    state.buffered = buffered;
    state.end.whenOver(() => buffered[Symbol.dispose]());
    return next();
  };
}

function clientOf({ req, state }: ApiContext): string {
  const { name } = state.user;
  return name === ANONYMOUS.name ? `address ${req.socket.remoteAddress}` : `user ${name}`;
}
