import type { Connection, FieldPacket, QueryOptions } from 'mysql2';
import { GuardedSocket } from '../network/guarded-socket.ts';
import { CIPHERS_WITHOUT_DHE } from '../network/tls.ts';
import {
  CONNECT_TIMEOUT_MS,
  type DatabaseOptions,
  type SqlConnection,
  type SqlRows,
  STATEMENT_TIMEOUT_MS,
  TABLE_LIMITS,
} from './sql-connection.ts';

/** Statements that only read. The effects of others, such as SET and CALL, would outlast the transaction. */
const READS = /^[\s(]*(?:select|with|values|table|show)\b/i;

/** Connects to MySQL or MariaDB. @throws the connection error */
export async function connectMysql(options: DatabaseOptions): Promise<SqlConnection> {
  const { default: mysql } = await import('mysql2'); // a bundle has only the default export of CommonJS
  const { host, port, user, password, database, tls, limits = TABLE_LIMITS } = options;
  const socket = new GuardedSocket(options, limits.received);
  const connection = mysql.createConnection({
    ...{ host, port, user, password, database },
    stream: socket,
    ...(tls && {
      ssl: {
        ...(tls.ca === undefined ? {} : { ca: tls.ca }),
        ...(tls.cert === undefined ? {} : { cert: tls.cert }),
        ...(tls.key === undefined ? {} : { key: tls.key }),
        ciphers: CIPHERS_WITHOUT_DHE,
        rejectUnauthorized: !tls.isUnverified,
        verifyIdentity: !tls.isUnverified,
      },
    }),
    connectTimeout: CONNECT_TIMEOUT_MS,
    flags: ['-LOCAL_FILES'],
    disableEval: true,
    rowsAsArray: true,
    maxPreparedStatements: 1, // none is prepared, and the default cache takes 0.5 MB of each connection
    typeCast: (field) => field.string('utf8'), // without an encoding it prints warnings about JSON
  });
  checkPackets(connection, socket);
  const destroy = () => {
    connection.destroy();
    socket.destroy();
  };
  connection.on('error', destroy); // an idle connection may break
  using _bound = socket.limitResponse();
  socket.dial(port, host);
  try {
    await new Promise<void>((resolve, reject) => {
      connection.connect((error) => (error ? reject(error) : resolve()));
    });
    const [[version = ''] = []] = (await runStatement(connection, 'SELECT VERSION()')).rows;
    await runStatement(connection, buildLimits(version ?? '', limits.rows));
  } catch (error) {
    destroy();
    throw error;
  }
  return {
    ...{ socket, destroy },
    async read(text) {
      if (!READS.test(text)) throw new Error('the statement must be a SELECT, WITH, VALUES, TABLE or SHOW');
      await runStatement(connection, 'START TRANSACTION READ ONLY');
      const rows = await runStatement(connection, text);
      await runStatement(connection, 'ROLLBACK');
      return rows;
    },
  };
}

/** Undocumented interface of the client. */
interface PacketHandler {
  readonly sequenceId: number;
  /** Whether the login has succeeded. */
  readonly authorized: boolean;
  handlePacket(packet?: { readonly sequenceId: number }): void;
}

/** Three passwords by the longest exchange take thirteen packets. */
const MAX_LOGIN_PACKETS = 16;

/**
 * Counts packets, and fails the connection if they are out of order: the client would print a line for each and continue.
 *
 * Also fails one whose server does not complete the login. It may request the password repeatedly, encrypted with its own
 * key; a key of 1 KB takes 10 ms of the event loop.
 *
 * The client has no option for these, and the socket sees no packets: the client starts TLS within the connection.
 */
function checkPackets(connection: object, socket: GuardedSocket): void {
  const client = connection as PacketHandler;
  const handle = client.handlePacket;
  let loginPackets = 0;
  client.handlePacket = (packet) => {
    if (packet !== undefined) {
      if (!client.authorized && ++loginPackets > MAX_LOGIN_PACKETS)
        socket.fail(new Error(`the server sends more than ${MAX_LOGIN_PACKETS} login packets`));
      socket.countMessage();
      if (socket.failure) return; // the rest of a chunk
      if (packet.sequenceId !== client.sequenceId)
        return socket.fail(new Error('the packets of the response are out of order'));
    }
    handle.call(client, packet);
  };
}

/** MariaDB takes the statement timeout in seconds, MySQL in milliseconds. */
function buildLimits(version: string, rows: number): string {
  const time = version.includes('MariaDB')
    ? `max_statement_time = ${STATEMENT_TIMEOUT_MS / 1000}`
    : `max_execution_time = ${STATEMENT_TIMEOUT_MS}`;
  return `SET SESSION ${time}, sql_select_limit = ${rows}`;
}

function runStatement(connection: Connection, sql: string): Promise<SqlRows> {
  const query: QueryOptions = { sql, timeout: STATEMENT_TIMEOUT_MS };
  return new Promise((resolve, reject) => {
    connection.query(query, (error, rows, fields: readonly FieldPacket[] | undefined) => {
      if (error) reject(error);
      else
        resolve({
          columns: (fields ?? []).map(({ name }) => name),
          rows: Array.isArray(rows) ? (rows as []) : [],
        });
    });
  });
}
