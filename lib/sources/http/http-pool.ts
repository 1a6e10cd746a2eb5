import net, { type Socket } from 'node:net';
import { buildConnector, Client, type Dispatcher } from 'undici';
import { Semaphore } from '#lib/concurrency/semaphore.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { createAllowedLookup, type NetworkOptions } from '../network/allowed-hosts.ts';
import { dial } from '../network/guarded-socket.ts';
import type { HttpCredentials } from './http-credentials.ts';

/** Creates a client of an origin that connects when it is first used. */
type Connect = (origin: string) => Client;

interface Origin {
  readonly permits: Semaphore;
  readonly idle: Set<Client>;
  users: number;
}

/** Per origin; further requests wait. */
const MAX_CONNECTIONS = 32;

/**
 * Keep-alive connections, each used by one request at a time.
 *
 * An undici agent takes 20 kB per origin in addition to connections, and scans all origins whenever one loses its last
 * connection, which takes seconds with thousands of pods.
 */
export class HttpPool {
  readonly #connect: Connect;
  readonly #origins = new Map<string, Origin>();
  readonly #clients = new Set<Client>();
  /** Clients that lost their connection while in use. */
  readonly #lost = new WeakSet<Client>();
  readonly #ended = Promise.withResolvers<void>();
  #users = 0;
  #state: 'open' | 'closing' | 'destroyed' = 'open';

  constructor(connect: Connect) {
    this.#connect = connect;
  }

  /** Number of connections, including those being opened. */
  get connectionCount(): number {
    return this.#clients.size;
  }

  /**
   * Runs `act` with a connection. An idle connection that turns out to be closed is replaced once.
   *
   * @throws the error of `act`; an Error if the server closes a new connection; the signal's reason if it aborts before
   * a connection is available
   */
  async use<T>(origin: string, signal: AbortSignal, act: (connection: Dispatcher) => Promise<T>): Promise<T> {
    const of = this.#origins.get(origin) ?? {
      permits: new Semaphore(MAX_CONNECTIONS),
      idle: new Set(),
      users: 0,
    };
    this.#origins.set(origin, of);
    of.users++;
    this.#users++;
    try {
      using _permit = await of.permits.acquire(signal);
      const idle = findLast(of.idle);
      try {
        return await this.#lend(idle ?? this.#open(origin, of), of, act);
      } catch (error) {
        if (signal.aborted || !isLost(error)) throw error;
        if (!idle) throw closedByServer(error);
      }
      try {
        return await this.#lend(this.#open(origin, of), of, act);
      } catch (error) {
        throw signal.aborted || !isLost(error) ? error : closedByServer(error);
      }
    } finally {
      of.users--;
      this.#users--;
      this.#removeIfUnused(origin, of);
      if (this.#state !== 'open' && this.#users === 0) this.#ended.resolve();
    }
  }

  /** Closes idle connections, and waits for running requests. */
  async close(): Promise<void> {
    if (this.#state === 'open') this.#state = 'closing';
    for (const [origin, of] of this.#origins) {
      for (const client of of.idle) this.#end(client, of.idle);
      this.#removeIfUnused(origin, of);
    }
    if (this.#users > 0) await this.#ended.promise;
  }

  /** Breaks all connections and prevents new ones. */
  async destroy(): Promise<void> {
    this.#state = 'destroyed';
    await Promise.all([...this.#clients].map((client) => client.destroy()));
  }

  async #lend<T>(client: Client, { idle }: Origin, act: (connection: Dispatcher) => Promise<T>): Promise<T> {
    idle.delete(client);
    try {
      const result = await act(client);
      if (this.#state !== 'open' || this.#lost.has(client)) this.#end(client, idle);
      else idle.add(client);
      return result;
    } catch (error) {
      this.#end(client, idle);
      throw error;
    }
  }

  #open(origin: string, of: Origin): Client {
    if (this.#state === 'destroyed') throw new Error('the client is closed');
    const client = this.#connect(origin);
    this.#clients.add(client);
    client.on('disconnect', () => {
      this.#lost.add(client);
      if (!of.idle.has(client)) return; // it is closed after its request
      this.#end(client, of.idle);
      this.#removeIfUnused(origin, of);
    });
    return client;
  }

  #end(client: Client, idle: Set<Client>): void {
    idle.delete(client);
    this.#clients.delete(client);
    client.destroy().catch(() => {}); // it was destroyed already
  }

  #removeIfUnused(origin: string, of: Origin): void {
    if (of.users === 0 && of.idle.size === 0 && this.#origins.get(origin) === of)
      this.#origins.delete(origin);
  }
}

function findLast(idle: ReadonlySet<Client>): Client | undefined {
  let last: Client | undefined;
  for (const client of idle) last = client;
  return last;
}

/** undici reports `other side closed` for either side. */
function closedByServer(cause: unknown): Error {
  return new Error('the server closed the connection before its response was complete', { cause });
}

/** Whether the server closed the connection, which it may do at any time between requests. */
function isLost(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
}

/** Bytes that a connection may still receive for the current request. */
interface WireBound {
  leftBytes: number;
}

/** undici creates an error for each excess header of a chunk, so chunks are limited to 4 KiB. */
const PIECE_BYTES = 4 * 1024;

/**
 * Reads from a socket in small pieces, and destroys it at the limit. The limits of undici do not count the framing of a
 * body: headers and chunk extensions.
 */
export function boundReads(socket: Socket, bound: WireBound): Socket {
  const read = socket.read.bind(socket);
  socket.read = (requested?: number) => {
    if (requested !== undefined) return read(requested); // Node itself, which triggers more input by read(0)
    if (socket.destroyed) return null;
    const size = Math.min(socket.readableLength, PIECE_BYTES);
    const piece: Buffer | null = size === 0 ? read() : read(size);
    bound.leftBytes -= piece?.length ?? 0;
    if (bound.leftBytes >= 0) return piece;
    socket.destroy(new Error('the transfer of the response exceeds twice its size limit'));
    return null;
  };
  return socket;
}

const KEEP_ALIVE_MS = 60_000;
const HTTPS_PORT = 443;

export interface ConnectionOptions extends NetworkOptions {
  readonly clock: Clock;
  readonly connectTimeoutMs: number;
}

/** Creates a pool of keep-alive connections that connects only to allowed addresses. */
export function connectionPool(credentials: HttpCredentials, options: ConnectionOptions): HttpPool {
  const { allowedHosts, connectTimeoutMs, clock } = options;
  const connectPlain = buildConnector({
    allowH2: false,
    timeout: connectTimeoutMs,
    lookup: createAllowedLookup(options),
  }) as (...call: Parameters<buildConnector.connector>) => void;
  const connect = (wire: WireBound, [target, callback]: Parameters<buildConnector.connector>) => {
    const host = target.hostname.replace(/^\[|\]$/g, '');
    const connected = (...[error, socket]: Parameters<buildConnector.Callback>) => {
      if (error) callback(error, null);
      else if (socket) callback(null, boundReads(socket, wire));
    };
    // Addresses are not looked up, so they are checked here.
    if (net.isIP(host) !== 0 && !allowedHosts.allows(host, host))
      callback(allowedHosts.refusal(host, [host]), null);
    else if (target.protocol === 'https:') void connectTls(host, target.port, connected);
    else connectPlain(target, connected);
  };
  const { authorization: _, ...tls } = credentials;
  async function connectTls(host: string, port: string, connected: buildConnector.Callback): Promise<void> {
    const expired = () => new Error(`no connection within ${formatDuration(connectTimeoutMs)}`);
    using deadline = startDeadline(clock, connectTimeoutMs, { expired });
    try {
      const at = { host, port: Number(port || HTTPS_PORT), tls, alpnProtocol: 'http/1.1' };
      const { socket } = await dial({ ...options, ...at }, deadline.signal);
      connected(null, socket);
    } catch (error) {
      connected(error as Error, null);
    }
  }
  return new HttpPool((origin) => {
    const wire: WireBound = { leftBytes: 0 };
    const client = new Client(origin, {
      allowH2: false,
      headersTimeout: 0, // the deadline of the request limits both
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      connect: (...call) => connect(wire, call),
    });
    WIRES.set(client, wire);
    return client;
  });
}

const WIRES = new WeakMap<Dispatcher, WireBound>();
/** For headers and other framing of a body. */
const FRAME_BYTES = 64 * 1024;

/** Limits the next response on a connection of such a pool to `maxBytes`, and as much again for framing. */
export function expectResponse(connection: Dispatcher, maxBytes: number): void {
  const wire = WIRES.get(connection);
  if (wire) wire.leftBytes = 2 * maxBytes + FRAME_BYTES;
}
