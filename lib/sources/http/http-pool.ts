import net, { type Socket } from 'node:net';
import { buildConnector, Client, type Dispatcher } from 'undici';
import { Semaphore } from '#lib/concurrency/semaphore.ts';
import { createAllowedLookup } from '../network/allowed-hosts.ts';
import type { ConnectionOptions } from '../network/guarded-socket.ts';
import { CIPHERS_WITHOUT_DHE } from '../network/tls.ts';
import type { HttpCredentials } from './http-credentials.ts';

/** Makes a connection to an origin; it connects when it is first used. */
type Connect = (origin: string) => Client;

interface Origin {
  readonly permits: Semaphore;
  readonly idle: Set<Client>;
  users: number;
}

/** To one origin; further requests wait. */
const MAX_CONNECTIONS = 32;

/**
 * Kept connections, each lent to one request at a time.
 *
 * An undici agent takes 20 kB for an origin beside its connections, and looks through all origins whenever one
 * has lost its last connection, which takes seconds where thousands of pods are asked.
 */
export class HttpPool {
  readonly #connect: Connect;
  readonly #origins = new Map<string, Origin>();
  readonly #clients = new Set<Client>();
  /** Those whose connection was lost while they were lent. */
  readonly #lost = new WeakSet<Client>();
  readonly #ended = Promise.withResolvers<void>();
  #users = 0;
  #state: 'open' | 'closing' | 'destroyed' = 'open';

  constructor(connect: Connect) {
    this.#connect = connect;
  }

  /** How many connections there are, or begin to be. */
  get connectionCount(): number {
    return this.#clients.size;
  }

  /**
   * Lends a connection for what is done with it. One that was kept and is found to be lost is replaced, once.
   *
   * @throws what `act` throws, an Error that says so where the server closed a new connection, and the signal's reason when it aborts before there is a connection
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
      const kept = findLast(of.idle);
      try {
        return await this.#lend(kept ?? this.#open(origin, of), of, act);
      } catch (error) {
        if (signal.aborted || !isLost(error)) throw error;
        if (!kept) throw closedByServer(error);
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

  /** Keeps no connection from now on, and waits for the requests under way. */
  async close(): Promise<void> {
    if (this.#state === 'open') this.#state = 'closing';
    for (const [origin, of] of this.#origins) {
      for (const client of of.idle) this.#end(client, of.idle);
      this.#removeIfUnused(origin, of);
    }
    if (this.#users > 0) await this.#ended.promise;
  }

  /** Breaks all connections, and makes no other. */
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
      if (!of.idle.has(client)) return; // it ends when it is given back
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

/** undici says `other side closed`, whatever side that may be. */
function closedByServer(cause: unknown): Error {
  return new Error('the server closed the connection before its response was complete', { cause });
}

/** Whether the other end closed the connection, as it may at any time while nothing is asked. */
function isLost(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
}

/** How much may still come over a connection for the request under way. */
interface WireBound {
  leftBytes: number;
}

/** undici makes an error of each header that is too many, as long as a piece lasts: of those in 4 KiB. */
const PIECE_BYTES = 4 * 1024;

/**
 * Hands out what has come over a socket in small pieces, and breaks it where there is more than may come: what frames a
 * body, its headers and the extensions of its chunks, counts in no bound of undici's.
 */
export function boundReads(socket: Socket, bound: WireBound): Socket {
  const read = socket.read.bind(socket);
  socket.read = (asked?: number) => {
    if (asked !== undefined) return read(asked); // Node itself, which has more come by asking for nothing
    if (socket.destroyed) return null;
    const size = Math.min(socket.readableLength, PIECE_BYTES);
    const piece: Buffer | null = size === 0 ? read() : read(size);
    bound.leftBytes -= piece?.length ?? 0;
    if (bound.leftBytes >= 0) return piece;
    socket.destroy(new Error('the response takes more than twice what it may have'));
    return null;
  };
  return socket;
}

const KEEP_ALIVE_MS = 60_000;

/** A pool of kept-alive connections that are only ever made to addresses that may be asked. */
export function connectionPool(credentials: HttpCredentials, options: ConnectionOptions): HttpPool {
  const { allowedHosts, connectTimeoutMs } = options;
  const { ca, cert, key, isUnverified = false } = credentials;
  const dial = buildConnector({
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert, key }),
    ...(isUnverified ? { rejectUnauthorized: false } : {}),
    ciphers: CIPHERS_WITHOUT_DHE,
    allowH2: false,
    timeout: connectTimeoutMs,
    lookup: createAllowedLookup(options),
  }) as (...call: Parameters<buildConnector.connector>) => void;
  const connect = (wire: WireBound, [target, callback]: Parameters<buildConnector.connector>) => {
    const host = target.hostname.replace(/^\[|\]$/g, '');
    // An address is dialled as it is, without asking for it.
    if (net.isIP(host) !== 0 && !allowedHosts.allows(host, host))
      callback(allowedHosts.refusal(host, [host]), null);
    else
      dial(target, (...[error, socket]) => {
        if (error) callback(error, null);
        else if (socket) callback(null, boundReads(socket, wire));
      });
  };
  return new HttpPool((origin) => {
    const wire: WireBound = { leftBytes: 0 };
    const client = new Client(origin, {
      allowH2: false,
      headersTimeout: 0, // the deadline of the request bounds both, on its own clock
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
/** Of headers and what else stands around a body. */
const FRAME_BYTES = 64 * 1024;

/** Has a connection of such a pool take a response of so many bytes, and as much again of what frames it. */
export function expectResponse(connection: Dispatcher, maxBytes: number): void {
  const wire = WIRES.get(connection);
  if (wire) wire.leftBytes = 2 * maxBytes + FRAME_BYTES;
}
