import { createHash } from 'node:crypto';
import type { Clock } from '#lib/time/clock.ts';
import { shorten } from '../http/shorten.ts';
import type { Query } from '../query.ts';
import { Secrets } from '../secrets.ts';
import { connectMysql } from './connect-mysql.ts';
import { connectPostgres } from './connect-postgres.ts';
import { samplesOfRows } from './samples-of-rows.ts';
import type { DatabaseOptions, SqlConnection, SqlRows, SqlSystem } from './sql-connection.ts';
import { SqlPool } from './sql-pool.ts';

const CONNECT: Readonly<Record<SqlSystem, (options: DatabaseOptions) => Promise<SqlConnection>>> = {
  mysql: connectMysql,
  postgres: connectPostgres,
};

/** A database that is asked by SQL, read-only, over a few connections that all its users share. */
export class SqlDatabase implements Disposable {
  readonly #options: DatabaseOptions;
  readonly #pool: SqlPool;
  readonly #place: string;
  readonly #identity: string;
  readonly #secrets: Secrets;

  constructor(options: DatabaseOptions, { clock }: { readonly clock: Clock }) {
    this.#options = options;
    this.#secrets = new Secrets([options.password]);
    this.#pool = new SqlPool({ clock, connect: () => CONNECT[options.system](options) });
    this.#place = `${options.host.includes(':') ? `[${options.host}]` : options.host}:${options.port}`;
    const { system, host, port, user, password, database, tls } = options;
    const text = JSON.stringify([system, host, port, user, password, database, tls ?? null]);
    this.#identity = createHash('sha256').update(text).digest('hex').slice(0, 32);
  }

  /** The same for databases that are asked in the same way with the same credentials; holds no secret. */
  get key(): string {
    return this.#identity;
  }

  /**
   * What one statement reads.
   *
   * @throws an Error that names the database, with the cause; the signal's reason when that aborts
   */
  async rows(text: string, signal: AbortSignal): Promise<SqlRows> {
    try {
      return await this.#pool.read(text, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const cause = this.#secrets.tellError(error);
      throw new Error(`Cannot ask database ${this.#options.database} at ${this.#place}`, { cause });
    }
  }

  /** A query for numbers: one, or rows of labels and a number. */
  query(text: string): Query {
    const { database } = this.#options;
    return {
      key: JSON.stringify(['sql', this.#identity, text]),
      description: `${shorten(text)} of database ${database} at ${this.#place}`,
      ask: async (signal) => {
        const rows = await this.rows(text, signal);
        try {
          return samplesOfRows(rows);
        } catch (error) {
          const cause = this.#secrets.tellError(error);
          throw new Error(`Cannot use what database ${database} at ${this.#place} responds`, { cause });
        }
      },
    };
  }

  [Symbol.dispose](): void {
    this.#pool[Symbol.dispose]();
  }
}
