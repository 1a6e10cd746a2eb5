import { pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import type { Client, QueryResult } from 'pg';
import type { FairSemaphore } from '#lib/concurrency/semaphore.ts';
import { currentTenant } from '#lib/concurrency/tenant.ts';
import { GuardedSocket } from '../network/guarded-socket.ts';
import { rejectLineBreaks } from '../network/reject-line-breaks.ts';
import { SocketStream } from '../network/socket-stream.ts';
import { CIPHERS_WITHOUT_DHE } from '../network/tls.ts';
import {
  CONNECT_TIMEOUT_MS,
  type DatabaseOptions,
  type SqlConnection,
  STATEMENT_TIMEOUT_MS,
  TABLE_LIMITS,
} from './sql-connection.ts';

/** Independent of earlier settings of the connection. */
const BEGIN = `BEGIN TRANSACTION READ ONLY; SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}`;
/** Returns values as the text of the server. */
const AS_TEXT = { getTypeParser: () => (text: string) => text };

/** Connects to PostgreSQL or a compatible server. @throws the connection error; an Error for a name with a line break */
export async function connectPostgres(options: DatabaseOptions): Promise<SqlConnection> {
  const { default: pg } = await import('pg');
  const { host, port, user, password, database, tls, limits = TABLE_LIMITS, logins } = options;
  rejectLineBreaks('the user or database of PostgreSQL', [user, database]);
  const socket = new GuardedSocket(options, limits.received);
  await using login = new Login(logins);
  // The client connects by `connect`, which does not check the allowed hosts.
  Object.defineProperty(socket, 'connect', { value: socket.dial });
  const client = new pg.Client({
    ...{ host, port, user, database },
    // The client reads an empty password or missing TLS options from the environment or files of this process.
    password: async () => {
      await login.begin();
      return password;
    },
    stream: () => socket,
    ssl: tls
      ? {
          ...{ ca: tls.ca, cert: tls.cert, key: tls.key, ciphers: CIPHERS_WITHOUT_DHE },
          rejectUnauthorized: !tls.isUnverified,
          get socket() {
            return new SocketStream(socket); // when TLS starts
          },
        }
      : false,
    application_name: 'autoscaler',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  rejectRepeatedSteps(client, socket);
  countMessages(client, socket);
  const destroy = () => void socket.destroy();
  client.on('error', destroy); // an idle connection may break
  using _bound = socket.limitResponse();
  try {
    await client.connect();
  } catch (error) {
    destroy();
    throw error;
  }
  return {
    ...{ socket, destroy },
    async read(text) {
      await client.query(BEGIN);
      // A cursor allows only a query, and the extended protocol only one statement.
      const cursor = { text: `DECLARE result NO SCROLL CURSOR FOR ${text}`, queryMode: 'extended' };
      await client.query(cursor);
      const { fields, rows }: QueryResult<(string | null)[]> = await client.query({
        text: `FETCH ${limits.rows} FROM result`,
        rowMode: 'array',
        types: AS_TEXT,
      });
      await client.query('ROLLBACK');
      return { columns: fields.map(({ name }) => name), rows };
    },
  };
}

/** The part of a login that derives a key from the password. */
class Login implements AsyncDisposable {
  readonly #logins: FairSemaphore | undefined;
  readonly #tenant = currentTenant() ?? '';
  readonly #ended = new AbortController();
  #permit: Promise<Disposable> | undefined;

  constructor(logins: FairSemaphore | undefined) {
    this.#logins = logins;
  }

  /** Waits until the tenant may log in. */
  async begin(): Promise<void> {
    this.#permit ??= this.#logins?.acquire(this.#tenant, this.#ended.signal);
    await this.#permit;
  }

  /** The key is derived even after the connection is closed; the permit is released once a thread is free again. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort(new Error('the login has ended'));
    const permit = await this.#permit?.catch(() => undefined); // it was not acquired
    if (!permit) return;
    await deriveKey('', '', 1, 1, 'sha256'); // begins after the key of this login
    permit[Symbol.dispose]();
  }
}

const deriveKey = promisify(pbkdf2);

/** Counts all messages: notices, parameters and notifications take as much time as rows, and may arrive at any time. */
function countMessages({ connection }: Client, socket: GuardedSocket): void {
  connection.on('message', () => socket.countMessage());
}

/** Messages that request the password or a proof of it. */
const LOGIN_STEPS = [
  'authenticationCleartextPassword',
  'authenticationMD5Password',
  'authenticationSASL',
  'authenticationSASLContinue',
  'authenticationSASLFinal',
] as const;

/**
 * Fails a connection whose server repeats a login step. The client starts all requested steps at once; 4 MiB can
 * request an hour of work, which continues after the connection is closed, in the threads that also read files.
 */
function rejectRepeatedSteps({ connection }: Client, socket: GuardedSocket): void {
  for (const step of LOGIN_STEPS)
    connection.prependOnceListener(step, () => {
      connection.removeAllListeners(step); // the listener of the client handles only this message
      connection.on(step, () => socket.fail(new Error('the server requests a login step twice')));
    });
}
