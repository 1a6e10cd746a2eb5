import type { NetworkOptions } from '../network/allowed-hosts.ts';
import type { GuardedSocket } from '../network/guarded-socket.ts';
import type { SqlTls } from '../network/tls.ts';

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

/** Supported databases; `mysql` includes MariaDB. */
export const SQL_SYSTEMS = ['mysql', 'postgres'] as const;

export type SqlSystem = (typeof SQL_SYSTEMS)[number];

/** The result of a statement, as text. */
export interface SqlRows {
  readonly columns: readonly string[];
  /** `null` for NULL. */
  readonly rows: readonly (readonly (string | null)[])[];
}

export interface SqlConnection {
  readonly socket: GuardedSocket;
  /**
   * Runs one statement in a read-only transaction.
   *
   * @returns at most {@link MAX_ROWS} + 1 rows
   * @throws the database's own error
   */
  read(text: string): Promise<SqlRows>;
  /** Closes the connection immediately. */
  destroy(): void;
}

/** A result with more rows is an error. */
export const MAX_ROWS = 1000;
/** Enforced by the database. */
export const STATEMENT_TIMEOUT_MS = 10_000;
export const CONNECT_TIMEOUT_MS = 10_000;
