import type { FairSemaphore } from '#lib/concurrency/semaphore.ts';
import type { NetworkOptions } from '../network/allowed-hosts.ts';
import { type GuardedSocket, type ReceiveLimits, STATEMENT_LIMITS } from '../network/guarded-socket.ts';
import type { SourceServer } from '../network/tls.ts';

export interface DatabaseOptions extends NetworkOptions, SourceServer {
  readonly system: SqlSystem;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** By default {@link TABLE_LIMITS}. */
  readonly limits?: ResultLimits | undefined;
  /** Limits the logins by password that are under way; by default they are not limited. */
  readonly logins?: FairSemaphore | undefined;
}

/** How much one statement may return. */
export interface ResultLimits {
  /** The database is requested to return no more rows. */
  readonly rows: number;
  readonly received: ReceiveLimits;
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
   * @returns at most as many rows as the limits allow
   * @throws the database's own error
   */
  read(text: string): Promise<SqlRows>;
  /** Closes the connection immediately. */
  destroy(): void;
}

/** A result with more rows is an error. */
export const MAX_ROWS = 1000;
/** For rows of labels and numbers, of databases that an administrator chooses. */
export const TABLE_LIMITS: ResultLimits = { rows: MAX_ROWS + 1, received: STATEMENT_LIMITS };
/**
 * For one number. Tenants choose the databases, and hundreds of statements run at once: each value takes eight bytes of
 * memory for one byte of the response, and each column some hundred.
 */
export const VALUE_LIMITS: ResultLimits = { rows: 1, received: { bytes: 64 * 1024, messages: 256 } };
/** Enforced by the database. */
export const STATEMENT_TIMEOUT_MS = 10_000;
export const CONNECT_TIMEOUT_MS = 10_000;
