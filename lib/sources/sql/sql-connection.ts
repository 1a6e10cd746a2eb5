import type { NetworkOptions } from '../network/allowed-hosts.ts';
import type { GuardedSocket } from '../network/guarded-socket.ts';
import type { SqlTls } from '../network/tls.ts';

/** Where a database is, and who asks it. */
export interface DatabaseOptions extends NetworkOptions {
  readonly system: SqlSystem;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** `undefined` for connections that are not encrypted. */
  readonly tls: SqlTls | undefined;
}

/** The kinds of databases that can be asked: `mysql` is MariaDB, too. */
export const SQL_SYSTEMS = ['mysql', 'postgres'] as const;

/** One of them. */
export type SqlSystem = (typeof SQL_SYSTEMS)[number];

/** What a database says to a query, as text. */
export interface SqlRows {
  readonly columns: readonly string[];
  /** `null` where a value is NULL. */
  readonly rows: readonly (readonly (string | null)[])[];
}

/** A connection to a database. */
export interface SqlConnection {
  /** Over which the database speaks. */
  readonly socket: GuardedSocket;
  /**
   * Reads by one statement, in a transaction that changes nothing.
   *
   * @returns no more than {@link MAX_ROWS} rows and one
   * @throws the database's own error
   */
  read(text: string): Promise<SqlRows>;
  /** Breaks it off, whatever goes on. */
  destroy(): void;
}

/** A result of more rows is none. */
export const MAX_ROWS = 1000;
/** After this long the database itself gives a statement up. */
export const STATEMENT_TIMEOUT_MS = 10_000;
/** After this long without one, there is no connection. */
export const CONNECT_TIMEOUT_MS = 10_000;
