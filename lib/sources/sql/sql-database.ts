import { LruMap } from '#lib/cache/lru-map.ts';
import { FairSemaphore } from '#lib/concurrency/semaphore.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { NetworkOptions } from '../network/allowed-hosts.ts';
import { digest, type Query, shorten } from '../query.ts';
import { parseDecimal, type Sample } from '../sample.ts';

import { Secrets } from '../secrets.ts';
import { connectMysql } from './connect-mysql.ts';
import { connectPostgres } from './connect-postgres.ts';
import {
  type DatabaseOptions,
  MAX_ROWS,
  type SqlConnection,
  type SqlRows,
  type SqlSystem,
  VALUE_LIMITS,
} from './sql-connection.ts';
import { MAX_CONNECTIONS, SqlPool } from './sql-pool.ts';

const CONNECT: Readonly<Record<SqlSystem, (options: DatabaseOptions) => Promise<SqlConnection>>> = {
  mysql: connectMysql,
  postgres: connectPostgres,
};

/** Queries a database by SQL, read-only, over a few shared connections. */
export class SqlDatabase implements Disposable {
  readonly #options: DatabaseOptions;
  readonly #pool: SqlPool;
  readonly #address: string;
  readonly #identity: string;
  readonly #secrets: Secrets;

  constructor(options: DatabaseOptions, { clock }: { readonly clock: Clock }) {
    this.#options = options;
    this.#secrets = new Secrets([options.password]);
    this.#pool = new SqlPool({ clock, connect: () => CONNECT[options.system](options) });
    this.#address = `${options.host.includes(':') ? `[${options.host}]` : options.host}:${options.port}`;
    const { system, host, port, user, password, database, tls } = options;
    this.#identity = digest([system, host, port, user, password, database, tls ?? null]);
  }

  /** Identifies the database and its credentials; contains no secret. */
  get key(): string {
    return this.#identity;
  }

  /**
   * Runs one statement.
   *
   * @throws an Error that names the database, with the cause; the signal's reason if it aborts
   */
  async rows(text: string, signal: AbortSignal): Promise<SqlRows> {
    try {
      return await this.#pool.read(text, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const cause = this.#secrets.redactError(error);
      throw new Error(`Cannot query database ${this.#options.database} at ${this.#address}`, { cause });
    }
  }

  /** Creates a query for one number, or for rows of labels and a number. */
  query(text: string): Query {
    const { database } = this.#options;
    return {
      key: JSON.stringify(['sql', this.#identity, text]),
      description: `${shorten(text)} of database ${database} at ${this.#address}`,
      run: async (signal) => {
        const rows = await this.rows(text, signal);
        try {
          return toSamples(rows);
        } catch (error) {
          const cause = this.#secrets.redactError(error);
          throw new Error(`Cannot read response of database ${database} at ${this.#address}`, { cause });
        }
      },
    };
  }

  [Symbol.dispose](): void {
    this.#pool[Symbol.dispose]();
  }
}

const SHOWN_LENGTH = 200;

/** Creates a query for the number in the first column of the first row. */
export function sqlQuery(
  database: SharedDatabase,
  { text, error }: { readonly text: string; readonly error: string },
): Query {
  return {
    key: JSON.stringify(['sql-trigger', database.key, text]),
    description: `${text.slice(0, SHOWN_LENGTH)} of a database`,
    source: `database ${database.key}`,
    maxConcurrent: MAX_CONNECTIONS,
    async run(signal) {
      try {
        const { rows } = await database.rows(text, signal);
        return [{ value: parseFirstValue(rows[0]?.[0]), labels: {} }];
      } catch (cause) {
        signal.throwIfAborted();
        throw new Error(`${error}: ${describeError(cause)}`, { cause });
      }
    },
  };
}

function parseFirstValue(value: string | null | undefined): number {
  if (value === undefined) throw new Error('no rows in result set');
  const number = value === null ? undefined : parseDecimal(value);
  if (number === undefined) throw new Error('the value is not a number');
  return number;
}

/** Name of the column with the number; by default the last column. */
const VALUE_COLUMN = 'value';

/**
 * Converts rows to samples: one number each, and the other columns as labels, except NULL.
 *
 * @throws an Error if there are no rows or too many, or a number is NULL or not finite
 */
export function toSamples({ columns, rows }: SqlRows): readonly Sample[] {
  if (rows.length === 0) throw new Error('the query returned no result');
  if (rows.length > MAX_ROWS) throw new Error(`the query returned more than ${MAX_ROWS} rows`);
  const named = columns.findIndex((name) => name.toLowerCase() === VALUE_COLUMN);
  const valueIndex = named === -1 ? columns.length - 1 : named;
  return rows.map((row) => {
    const labels = columns.flatMap((name, index) => {
      const value = row[index];
      return index === valueIndex || value === null || value === undefined ? [] : [[name, value] as const];
    });
    return {
      value: parseValue(row[valueIndex], columns[valueIndex] ?? ''),
      labels: Object.fromEntries(labels),
    };
  });
}

function parseValue(text: string | null | undefined, column: string): number {
  if (text === null || text === undefined)
    throw new Error(`the query returned NULL in column ${JSON.stringify(column)}, not a finite number`);
  const value = parseDecimal(text);
  if (value !== undefined) return value;
  throw new Error(
    `the query returned ${JSON.stringify(shorten(text))} in column ${JSON.stringify(column)}, not a number`,
  );
}

/** The least recently used databases close their connections, and open new ones when they are used again. */
const MAX_DATABASES = 1000;
/** Deriving a key takes up to 30 ms of one of four threads, which also read files such as `/etc/hosts`. */
const MAX_LOGINS = 4;

/** A database, connected or not. */
type SharedDatabase = Pick<SqlDatabase, 'key' | 'rows'>;

/** Databases that tenants choose, shared by equal options; each query reads one number. */
export class SqlDatabases implements Disposable {
  readonly #options: NetworkOptions & { readonly clock: Clock };
  readonly #logins = new FairSemaphore(MAX_LOGINS);
  readonly #databases = new LruMap<string, SqlDatabase>({
    max: MAX_DATABASES,
    onEvict: (database) => database[Symbol.dispose](),
  });
  #isClosed = false;

  constructor(options: NetworkOptions & { readonly clock: Clock }) {
    this.#options = options;
  }

  for(given: Omit<DatabaseOptions, keyof NetworkOptions | 'limits' | 'logins'>): SharedDatabase {
    const { clock, allowedHosts, findAddresses, share } = this.#options;
    const network = { allowedHosts, findAddresses, share };
    const options = { ...network, ...given, limits: VALUE_LIMITS, logins: this.#logins };
    const { key } = new SqlDatabase(options, { clock });
    return { key, rows: async (text, signal) => await this.#use(key, options).rows(text, signal) };
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const database of this.#databases.values()) database[Symbol.dispose]();
  }

  #use(key: string, options: DatabaseOptions): SqlDatabase {
    if (this.#isClosed) throw new Error('the connections are closed');
    return this.#databases.getOrSet(key, () => new SqlDatabase(options, this.#options));
  }
}
