import { Semaphore } from '#lib/concurrency/semaphore.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { IDLE_LIMITS } from '../network/guarded-socket.ts';
import type { SqlConnection, SqlRows } from './sql-connection.ts';

interface SqlPoolOptions {
  readonly clock: Clock;
  readonly connect: () => Promise<SqlConnection>;
}

/** Per database; further queries wait. */
export const MAX_CONNECTIONS = 4;
const IDLE_MS = 60_000;

interface Idle {
  readonly connection: SqlConnection;
  readonly expiry: Disposable;
  readonly bound: Disposable;
}

/** A few connections to one database, opened on demand and closed when idle. */
export class SqlPool implements Disposable {
  readonly #options: SqlPoolOptions;
  readonly #idle: Idle[] = [];
  readonly #permits = new Semaphore(MAX_CONNECTIONS);
  readonly #open = new Set<SqlConnection>();
  #isClosed = false;

  constructor(options: SqlPoolOptions) {
    this.#options = options;
  }

  /**
   * Runs one statement.
   *
   * @throws the error of the database, or the signal's reason; the connection is closed then, since its state is
   * unknown
   */
  async read(text: string, signal: AbortSignal): Promise<SqlRows> {
    if (this.#isClosed) throw new Error('the connections are closed');
    using _permit = await this.#permits.acquire(signal);
    let connection: SqlConnection | undefined;
    try {
      connection = this.#takeIdle() ?? (await this.#connect(signal));
      using bound = connection.socket.limitResponse();
      const rows = await raceAbort(connection.read(text), signal);
      bound.check();
      this.#release(connection);
      return rows;
    } catch (error) {
      if (connection) this.#destroy(connection);
      throw connection?.socket.failure ?? error;
    }
  }

  /** Closes all connections immediately. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const idle of this.#idle.splice(0)) disposeIdle(idle);
    for (const connection of [...this.#open]) this.#destroy(connection);
  }

  #takeIdle(): SqlConnection | undefined {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      disposeIdle(idle);
      if (!idle.connection.socket.destroyed) return idle.connection;
      this.#destroy(idle.connection);
    }
    return undefined;
  }

  async #connect(signal: AbortSignal): Promise<SqlConnection> {
    const connecting = this.#options.connect();
    try {
      const connection = await raceAbort(connecting, signal);
      if (this.#isClosed) {
        connection.destroy();
        throw new Error('the connections are closed');
      }
      this.#open.add(connection);
      return connection;
    } catch (error) {
      connecting.then(
        (late) => late.destroy(),
        () => {}, // the caller has the error, or is gone
      );
      throw error;
    }
  }

  #release(connection: SqlConnection): void {
    if (this.#isClosed) {
      this.#destroy(connection);
      return;
    }
    const idle: Idle = {
      connection,
      bound: connection.socket.limitResponse(IDLE_LIMITS),
      expiry: this.#options.clock.startTimer(IDLE_MS, () => {
        const index = this.#idle.indexOf(idle);
        if (index !== -1) this.#idle.splice(index, 1);
        idle.bound[Symbol.dispose]();
        this.#destroy(connection);
      }),
    };
    this.#idle.push(idle);
  }

  #destroy(connection: SqlConnection): void {
    this.#open.delete(connection);
    connection.destroy();
  }
}

function disposeIdle({ expiry, bound }: Idle): void {
  expiry[Symbol.dispose]();
  bound[Symbol.dispose]();
}
