import { Semaphore } from '#lib/concurrency/semaphore.ts';
import type { Clock } from '#lib/time/clock.ts';
import { ClientPool, type PooledClient } from '../network/client-pool.ts';
import { IDLE_LIMITS } from '../network/guarded-socket.ts';
import { CONNECT_TIMEOUT_MS, type SqlConnection, type SqlRows } from './sql-connection.ts';

interface SqlPoolOptions {
  readonly clock: Clock;
  readonly connect: () => Promise<SqlConnection>;
}

/** Per database; further queries wait. */
export const MAX_CONNECTIONS = 4;
const IDLE_MS = 60_000;
/** The client libraries have a timeout of their own, with a better error. */
const MAX_CONNECT_MS = CONNECT_TIMEOUT_MS + 1000;

/** A few connections to one database, each used by one query at a time, opened on demand and closed when idle. */
export class SqlPool implements Disposable {
  readonly #options: SqlPoolOptions;
  readonly #clients: ClientPool<SqlClient>;
  readonly #permits = new Semaphore(MAX_CONNECTIONS);
  /** Keys of connections that no query uses, the one used last at the end. */
  readonly #free = Array.from({ length: MAX_CONNECTIONS }, (_, index) => `${index}`);

  constructor(options: SqlPoolOptions) {
    this.#options = options;
    const { clock } = options;
    this.#clients = new ClientPool({ clock, idleMs: IDLE_MS, connectTimeoutMs: MAX_CONNECT_MS });
  }

  /**
   * Runs one statement.
   *
   * @throws the error of the database, or the signal's reason; the connection is closed then, since its state is
   * unknown
   */
  async read(text: string, signal: AbortSignal): Promise<SqlRows> {
    using _permit = await this.#permits.acquire(signal);
    const key = this.#free.pop() ?? '';
    try {
      return await this.#clients.use(key, {
        connect: async () => new SqlClient(await this.#options.connect()),
        work: (client) => client.read(text),
        signal,
      });
    } finally {
      this.#free.push(key);
    }
  }

  /** Closes all connections immediately. */
  [Symbol.dispose](): void {
    this.#clients[Symbol.dispose]();
  }
}

/** A connection whose received data is limited, also between two statements. */
class SqlClient implements PooledClient {
  readonly #connection: SqlConnection;
  #idleLimit: Disposable | undefined;

  constructor(connection: SqlConnection) {
    this.#connection = connection;
  }

  get isBroken(): boolean {
    return this.#connection.socket.destroyed;
  }

  async read(text: string): Promise<SqlRows> {
    const { socket } = this.#connection;
    this.#idleLimit?.[Symbol.dispose]();
    try {
      using limit = socket.limitResponse();
      const rows = await this.#connection.read(text);
      limit.check();
      if (!socket.destroyed) this.#idleLimit = socket.limitResponse(IDLE_LIMITS);
      return rows;
    } catch (error) {
      this.destroy();
      throw socket.failure ?? error;
    }
  }

  destroy(): void {
    this.#idleLimit?.[Symbol.dispose]();
    this.#connection.destroy();
  }
}
