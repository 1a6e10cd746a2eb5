import type { Clock } from '#lib/time/clock.ts';
import type { DatabaseOptions } from './database.ts';
import { SqlDatabase } from './sql-database.ts';

/** Those that were used at the longest ago go. */
const MOST_DATABASES = 1000;

/** Databases that are asked by SQL, one for all that ask it in the same way. */
export class SqlDatabases implements Disposable {
  readonly #clock: Clock;
  readonly #databases = new Map<string, SqlDatabase>();

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  for(options: DatabaseOptions): SqlDatabase {
    const fresh = new SqlDatabase(options, { clock: this.#clock });
    const database = this.#databases.get(fresh.key) ?? fresh;
    this.#databases.delete(fresh.key); // to the end
    this.#databases.set(fresh.key, database);
    const [oldest] = this.#databases;
    if (this.#databases.size > MOST_DATABASES && oldest) {
      this.#databases.delete(oldest[0]);
      oldest[1][Symbol.dispose]();
    }
    return database;
  }

  [Symbol.dispose](): void {
    for (const database of this.#databases.values()) database[Symbol.dispose]();
  }
}
