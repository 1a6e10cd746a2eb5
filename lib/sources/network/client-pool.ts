import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';

/** A client that is connected to one system. */
export interface PooledClient {
  /** Whether nothing can be asked over it any more. */
  readonly isBroken: boolean;
  /** Ends it at once, whatever it does. */
  destroy(): void;
}

/** What clients are kept with. */
interface ClientPoolOptions {
  readonly clock: Clock;
  /** A client that nobody has used for so long is closed; by default 5 min. */
  readonly idleMs?: number;
  /** After this long there is no connection; by default 10 s. */
  readonly connectTimeoutMs?: number;
}

/** What is done with a client. */
interface ClientUse<T, R> {
  /** Makes one; what it has begun it ends with the signal. */
  connect(signal: AbortSignal): Promise<T>;
  work(client: T): Promise<R>;
  readonly signal: AbortSignal;
}

interface PoolEntry<T> {
  readonly client: Promise<T>;
  readonly closing: AbortController;
  expiry: Disposable | undefined;
  users: number;
}

const IDLE_MS = 300_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Servers may send on to ever new addresses, as nodes of a Redis cluster do: of more that nobody uses, the oldest are closed. */
const MAX_IDLE = 256;

/**
 * Clients of sources that are connected: made when they are needed, shared by all that need the same, closed when nobody has for
 * a while, and when they are broken.
 *
 * What a server refuses breaks nothing. A request that was given up has its connection replaced for those who ask later, for its
 * peer may be gone; those who wait for something on it go on.
 */
export class ClientPool<T extends PooledClient> implements Disposable {
  readonly #options: ClientPoolOptions;
  readonly #kept = new Map<string, PoolEntry<T>>();
  /** Keys of those that nobody uses, the one that rests the longest first. */
  readonly #idle = new Set<string>();
  /** Replaced, but in use. */
  readonly #retired = new Set<PoolEntry<T>>();
  #isClosed = false;

  constructor(options: ClientPoolOptions) {
    this.#options = options;
  }

  /** How many there are, with those that are replaced but in use. */
  get size(): number {
    return this.#kept.size + this.#retired.size;
  }

  /**
   * Has a client do something.
   *
   * @param key the same for those that may share a client
   * @throws what connecting or the work throws; the signal's reason when that aborts
   */
  async use<R>(key: string, { connect, work, signal }: ClientUse<T, R>): Promise<R> {
    if (this.#isClosed) throw new Error('the connections are closed');
    const kept = this.#kept.get(key) ?? this.#connect(key, connect);
    kept.expiry?.[Symbol.dispose]();
    this.#idle.delete(key);
    kept.users++;
    try {
      const client = await raceAbort(kept.client, signal);
      try {
        return await raceAbort(work(client), signal);
      } finally {
        if (client.isBroken) this.#drop(key, kept);
        else if (signal.aborted) this.#retire(key, kept);
      }
    } finally {
      kept.users--;
      if (kept.users === 0) this.#rest(key, kept);
    }
  }

  /** Closes all of them. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const [key, kept] of [...this.#kept]) this.#drop(key, kept);
    for (const kept of [...this.#retired]) this.#close(kept);
  }

  #connect(key: string, connect: ClientUse<T, never>['connect']): PoolEntry<T> {
    const { clock, connectTimeoutMs = CONNECT_TIMEOUT_MS } = this.#options;
    const closing = new AbortController();
    const expired = () => new Error(`no connection within ${connectTimeoutMs / 1000}s`);
    const deadline = startDeadline(clock, connectTimeoutMs, { signal: closing.signal, expired });
    const connecting = connect(deadline.signal);
    const client = raceAbort(connecting, deadline.signal).finally(() => deadline[Symbol.dispose]());
    const kept: PoolEntry<T> = { client, closing, expiry: undefined, users: 0 };
    this.#kept.set(key, kept);
    client.catch(() => {
      this.#drop(key, kept);
      connecting.then(
        (late) => late.destroy(),
        () => {}, // told already
      );
    });
    return kept;
  }

  #rest(key: string, kept: PoolEntry<T>): void {
    if (this.#retired.has(kept)) this.#close(kept);
    if (this.#kept.get(key) !== kept) return;
    const { clock, idleMs = IDLE_MS } = this.#options;
    kept.expiry = clock.startTimer(idleMs, () => this.#drop(key, kept));
    this.#idle.add(key);
    const [oldest = key] = this.#idle;
    const rested = this.#kept.get(oldest);
    if (this.#idle.size > MAX_IDLE && rested) this.#drop(oldest, rested);
  }

  #retire(key: string, kept: PoolEntry<T>): void {
    if (this.#kept.get(key) !== kept) return;
    this.#kept.delete(key);
    this.#retired.add(kept);
  }

  #drop(key: string, kept: PoolEntry<T>): void {
    if (this.#kept.get(key) === kept) {
      this.#kept.delete(key);
      this.#idle.delete(key);
    }
    this.#close(kept);
  }

  #close(kept: PoolEntry<T>): void {
    this.#retired.delete(kept);
    kept.expiry?.[Symbol.dispose]();
    kept.closing.abort(new Error('the connections are closed'));
    kept.client.then(
      (client) => client.destroy(),
      () => {}, // it never was
    );
  }
}
