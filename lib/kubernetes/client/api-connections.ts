import type net from 'node:net';
import { Agent, buildConnector, type Dispatcher, ProxyAgent } from 'undici';
import type { ClusterAccess, ClusterTls } from '../access/cluster-access.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/** Shorter than the idle timeout of API servers, so that no connection closes just as it is used. */
const KEEP_ALIVE_MS = 30_000;

/**
 * Persistent connections to the API server, one pool for each set of TLS credentials: when these rotate, the previous
 * pool ends with its last request.
 */
export class ApiConnections implements AsyncDisposable {
  readonly #access: ClusterAccess;
  readonly #pools = new Set<Dispatcher>();
  #current: { readonly tls: ClusterTls; readonly pool: Dispatcher } | undefined;
  /** Connecting sockets, which undici cannot close. */
  readonly #dialled = new Set<net.Socket>();
  #isClosed = false;

  constructor(access: ClusterAccess) {
    this.#access = access;
  }

  /**
   * The pool for the current credentials.
   *
   * @throws once disposed
   */
  get current(): Dispatcher {
    if (this.#isClosed) throw new Error('client is closed');
    const { tls, proxy } = this.#access;
    if (this.#current?.tls === tls) return this.#current.pool;
    const previous = this.#current?.pool;
    previous?.close().then(
      () => this.#pools.delete(previous),
      () => {}, // destroyed meanwhile
    );
    const pool = createPool(tls, { proxy, onDial: (socket) => this.#track(socket) });
    this.#pools.add(pool);
    this.#current = { tls, pool };
    return pool;
  }

  /** Closes every connection; requests in progress fail. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const socket of this.#dialled) socket.destroy();
    await Promise.all([...this.#pools].map((pool) => pool.destroy()));
  }

  #track(socket: net.Socket): void {
    this.#dialled.add(socket);
    socket.once('close', () => this.#dialled.delete(socket));
  }
}

function createPool(
  tls: ClusterTls,
  { proxy, onDial }: { readonly proxy: URL | undefined; readonly onDial: (socket: net.Socket) => void },
): Dispatcher {
  const common = {
    allowH2: false, // one connection for each request: none waits for another, and no GOAWAY ends them all
    headersTimeout: 0, // the client's deadlines bound both, on its own clock
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  };
  const connect = { ...tls, timeout: CONNECT_TIMEOUT_MS };
  if (proxy) return new ProxyAgent({ ...common, uri: proxy.href, requestTls: connect });
  // Typed as void, it returns the connecting socket.
  const dial = buildConnector({ ...connect, allowH2: false }) as (
    ...call: Parameters<buildConnector.connector>
  ) => net.Socket | undefined;
  return new Agent({
    ...common,
    connect: (target, callback) => {
      const socket = dial(target, callback);
      if (socket) onDial(socket);
    },
  });
}
