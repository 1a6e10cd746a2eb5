import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';

/** A connected client. */
export interface PooledClient {
  /** Whether the connection is unusable. */
  readonly isBroken: boolean;
  /** Closes the connection immediately. */
  destroy(): void;
}

interface ClientPoolOptions {
  readonly clock: Clock;
  /** Idle time after which a client is closed; by default 5 min. */
  readonly idleMs?: number;
  /** By default 10 s. */
  readonly connectTimeoutMs?: number;
}

interface ClientUse<T, R> {
  /** Creates a client; must stop when the signal aborts. */
  connect(signal: AbortSignal): Promise<T>;
  work(client: T): Promise<R>;
  readonly signal: AbortSignal;
}

interface PoolEntry<T> {
  readonly client: Promise<T>;
  connected: T | undefined;
  readonly closing: AbortController;
  expiry: Disposable | undefined;
  users: number;
}

const IDLE_MS = 300_000;
const CONNECT_TIMEOUT_MS = 10_000;
/**
 * Servers may redirect to any number of addresses, as nodes of a Redis cluster do; the longest idle clients are closed.
 */
const MAX_IDLE = 256;

/**
 * A pool of connected clients, shared by key. Clients are created on demand, and closed when they are idle or broken.
 *
 * An error response of the server does not close a client. After an aborted request, later requests use a new client,
 * since the server may be unreachable; pending requests continue on the old one. An attempt to connect stops when its
 * last caller aborts.
 */
export class ClientPool<T extends PooledClient> implements Disposable {
  readonly #options: ClientPoolOptions;
  readonly #entries = new Map<string, PoolEntry<T>>();
  /** Keys of idle clients, the longest idle first. */
  readonly #idle = new Set<string>();
  /** Replaced, but still in use. */
  readonly #retired = new Set<PoolEntry<T>>();
  #isClosed = false;

  constructor(options: ClientPoolOptions) {
    this.#options = options;
  }

  /** Number of clients, including replaced ones in use. */
  get size(): number {
    return this.#entries.size + this.#retired.size;
  }

  /**
   * Runs work with a client.
   *
   * @param key equal for callers that may share a client
   * @throws the error of `connect` or `work`; the signal's reason if it aborts
   */
  async use<R>(key: string, { connect, work, signal }: ClientUse<T, R>): Promise<R> {
    if (this.#isClosed) throw new Error('the connections are closed');
    const found = this.#entries.get(key);
    if (found?.users === 0 && found.connected?.isBroken) this.#drop(key, found); // it broke while it was idle
    const entry = this.#entries.get(key) ?? this.#connect(key, connect);
    entry.expiry?.[Symbol.dispose]();
    this.#idle.delete(key);
    entry.users++;
    try {
      const client = await raceAbort(entry.client, signal);
      try {
        return await raceAbort(work(client), signal);
      } finally {
        if (client.isBroken) this.#drop(key, entry);
        else if (signal.aborted) this.#retire(key, entry);
      }
    } finally {
      entry.users--;
      if (entry.users === 0 && signal.aborted && !entry.connected) this.#drop(key, entry);
      else if (entry.users === 0) this.#markUnused(key, entry);
    }
  }

  /** Closes all clients. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const [key, entry] of [...this.#entries]) this.#drop(key, entry);
    for (const entry of [...this.#retired]) this.#close(entry);
  }

  #connect(key: string, connect: ClientUse<T, never>['connect']): PoolEntry<T> {
    const { clock, connectTimeoutMs = CONNECT_TIMEOUT_MS } = this.#options;
    const closing = new AbortController();
    const expired = () => new Error(`no connection within ${connectTimeoutMs / 1000}s`);
    const deadline = startDeadline(clock, connectTimeoutMs, { signal: closing.signal, expired });
    const connecting = connect(deadline.signal);
    const client = raceAbort(connecting, deadline.signal).finally(() => deadline[Symbol.dispose]());
    const entry: PoolEntry<T> = { client, connected: undefined, closing, expiry: undefined, users: 0 };
    this.#entries.set(key, entry);
    const connected = (made: T) => {
      entry.connected = made;
    };
    client.then(connected, () => {
      this.#drop(key, entry);
      connecting.then(
        (late) => late.destroy(),
        () => {}, // the callers have the error
      );
    });
    return entry;
  }

  #markUnused(key: string, entry: PoolEntry<T>): void {
    if (this.#retired.has(entry)) this.#close(entry);
    if (this.#entries.get(key) !== entry) return;
    const { clock, idleMs = IDLE_MS } = this.#options;
    entry.expiry = clock.startTimer(idleMs, () => this.#drop(key, entry));
    this.#idle.add(key);
    const [oldest = key] = this.#idle;
    const longestIdle = this.#entries.get(oldest);
    if (this.#idle.size > MAX_IDLE && longestIdle) this.#drop(oldest, longestIdle);
  }

  #retire(key: string, entry: PoolEntry<T>): void {
    if (this.#entries.get(key) !== entry) return;
    this.#entries.delete(key);
    this.#retired.add(entry);
  }

  #drop(key: string, entry: PoolEntry<T>): void {
    if (this.#entries.get(key) === entry) {
      this.#entries.delete(key);
      this.#idle.delete(key);
    }
    this.#close(entry);
  }

  #close(entry: PoolEntry<T>): void {
    this.#retired.delete(entry);
    entry.expiry?.[Symbol.dispose]();
    entry.closing.abort(new Error('the connections are closed'));
    if (entry.connected) entry.connected.destroy();
    else
      entry.client.then(
        (client) => client.destroy(),
        () => {}, // it did not connect
      );
  }
}
