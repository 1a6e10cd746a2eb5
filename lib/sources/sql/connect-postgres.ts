import type { Client, QueryResult } from 'pg';
import { GuardedSocket } from '../network/guarded-socket.ts';
import { CIPHERS_WITHOUT_DHE } from '../network/tls.ts';
import {
  CONNECT_TIMEOUT_MS,
  type DatabaseOptions,
  MAX_ROWS,
  type SqlConnection,
  STATEMENT_TIMEOUT_MS,
} from './sql-connection.ts';

/** Whatever happened before on the connection, now it reads, and not for long. */
const BEGIN = `BEGIN TRANSACTION READ ONLY; SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}`;
/** Values as the server writes them. */
const AS_TEXT = { getTypeParser: () => (text: string) => text };

/** Connects to PostgreSQL, or to what speaks as it does. @throws when it cannot */
export async function connectPostgres(options: DatabaseOptions): Promise<SqlConnection> {
  const { default: pg } = await import('pg');
  const { host, port, user, password, database, tls } = options;
  const socket = new GuardedSocket(options);
  // The client dials by `connect`, which does not say who may be dialled.
  Object.defineProperty(socket, 'connect', { value: socket.dial });
  const client = new pg.Client({
    ...{ host, port, user, database },
    // The client takes an empty one, or TLS that is left out, from the environment or a file of this process.
    password: () => password,
    stream: () => socket,
    ssl: tls
      ? {
          ...{ ca: tls.ca, cert: tls.cert, key: tls.key, ciphers: CIPHERS_WITHOUT_DHE },
          rejectUnauthorized: !tls.isUnverified,
        }
      : false,
    application_name: 'autoscaler',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  rejectRepeatedSteps(client, socket);
  countMessages(client, socket);
  const destroy = () => void socket.destroy();
  client.on('error', destroy); // a connection that breaks while nobody uses it is simply gone
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
      // A cursor takes nothing but a query, and the extended protocol no second statement behind it.
      const cursor = { text: `DECLARE result NO SCROLL CURSOR FOR ${text}`, queryMode: 'extended' };
      await client.query(cursor);
      const { fields, rows }: QueryResult<(string | null)[]> = await client.query({
        text: `FETCH ${MAX_ROWS + 1} FROM result`,
        rowMode: 'array',
        types: AS_TEXT,
      });
      await client.query('ROLLBACK');
      return { columns: fields.map(({ name }) => name), rows };
    },
  };
}

/** Notices, parameters and notifications cost as much as rows, and the client accepts them at any time. */
function countMessages({ connection }: Client, socket: GuardedSocket): void {
  connection.on('message', () => socket.countMessage());
}

/** The messages by which a server requests the password or a proof of it. */
const LOGIN_STEPS = [
  'authenticationCleartextPassword',
  'authenticationMD5Password',
  'authenticationSASL',
  'authenticationSASLContinue',
  'authenticationSASLFinal',
] as const;

/**
 * Ends a connection whose server requests a step of logging in again. The client begins all that is requested at once,
 * and 4 MiB contain requests for an hour of work, which goes on when the connection is broken, in the threads that look names up and read files.
 */
function rejectRepeatedSteps({ connection }: Client, socket: GuardedSocket): void {
  for (const step of LOGIN_STEPS)
    connection.prependOnceListener(step, () => {
      connection.removeAllListeners(step); // the client's own takes this message, and no other
      connection.on(step, () => socket.fail(new Error('the server asks for one step of logging in twice')));
    });
}
