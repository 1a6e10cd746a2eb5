import type { Clock } from '#lib/time/clock.ts';
import type { DatabaseOptions } from './sql-connection.ts';
import { SqlDatabase } from './sql-database.ts';

/** Those that were used at the longest ago lose their connections, and make new ones when they are used again. */
const MOST_DATABASES = 1000;

/** A database, be it connected or not. */
export type AskedDatabase = Pick<SqlDatabase, 'key' | 'rows'>;

/** Databases that are asked by SQL, one for all that ask it in the same way. */
export class SqlDatabases implements Disposable {
  readonly #clock: Clock;
  /** In the order of their last use. */
  readonly #databases = new Map<string, SqlDatabase>();
  #isClosed = false;

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  for(options: DatabaseOptions): AskedDatabase {
    const { key } = new SqlDatabase(options, { clock: this.#clock });
    return { key, rows: async (text, signal) => await this.#use(key, options).rows(text, signal) };
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const database of this.#databases.values()) database[Symbol.dispose]();
  }

  #use(key: string, options: DatabaseOptions): SqlDatabase {
    if (this.#isClosed) throw new Error('the connections are closed');
    const database = this.#databases.get(key) ?? new SqlDatabase(options, { clock: this.#clock });
    this.#databases.delete(key); // to the end
    this.#databases.set(key, database);
    const [oldest] = this.#databases;
    if (this.#databases.size > MOST_DATABASES && oldest) {
      this.#databases.delete(oldest[0]);
      oldest[1][Symbol.dispose]();
    }
    return database;
  }
}
