import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { connectMysql } from '#lib/sources/sql/connect-mysql.ts';
import { type ResultLimits, VALUE_LIMITS } from '#lib/sources/sql/sql-connection.ts';

const JSON_TYPE = 0xf5;
const TEXT_TYPE = 0xfd;
const VERSION = '11.0.0-MariaDB';
/** Protocol 4.1 with databases, transactions and authentication plugins, without TLS. */
const CAPABILITIES = 0x8_a209;
const OK = Buffer.from([0, 0, 0, 2, 0, 0, 0]);
const END = Buffer.from([0xfe, 0, 0, 2, 0]);

describe('connectMysql', () => {
  it('reads JSON as the text that it is', async () => {
    const text = '{"a": "\u{e4}"}';
    await using system = await start(() => resultOf(text, JSON_TYPE));
    expect(await system.connection.read('SELECT it')).to.deep.equal({ columns: ['v'], rows: [[text]] });
    expect(system.printed).to.deep.equal([]);
  });

  it('sends nothing but what reads: all else would outlast its transaction', async () => {
    await using system = await start(() => resultOf('1', TEXT_TYPE));
    system.requested.length = 0;
    for (const text of ['SET SESSION sql_log_bin = 0', 'CALL clean()', 'DELETE FROM jobs', 'selected', '']) {
      const failed = await system.connection.read(text).catch((error: Error) => error.message);
      expect(failed, text).to.equal('the statement must be a SELECT, WITH, VALUES, TABLE or SHOW');
    }
    expect(system.requested).to.deep.equal([]);
    for (const text of ['SELECT it', '(select 1)', 'WITH j AS (SELECT 1) SELECT 1', 'show status'])
      await system.connection.read(text);
    expect(system.requested.filter((sql) => sql === 'START TRANSACTION READ ONLY')).to.have.length(4);
  });

  it('closes the connection to a peer with packets out of order', async () => {
    await using system = await start(() =>
      Buffer.concat(Array.from({ length: 1_000 }, () => packet(77, Buffer.of(0)))),
    );
    const failed = await system.connection.read('SELECT it').catch((error: unknown) => error);
    expect(failed).to.be.an.instanceOf(Error);
    expect(String(system.connection.socket.failure)).to.include('out of order');
    expect(system.printed).to.deep.equal([]);
  });

  it('closes the connection to a server that requests the password repeatedly', async () => {
    const again = Buffer.from('\xfemysql_native_password\x000123456789abcdefghij\0', 'latin1');
    const requests = Array.from({ length: 200 }, (_, index) => packet(2 + index, again));
    const failed = await start(() => OK, { logIn: Buffer.concat(requests) }).catch((error: unknown) => error);
    expect(String(failed)).to.include('more than 16 login packets');
  });

  it('requests one row for a trigger, and rejects a result that is far larger than one number', async () => {
    const table = { columns: 200, rows: 100 };
    await using unlimited = await start(() => tableOf(table));
    expect((await unlimited.connection.read('SELECT it')).rows).to.have.length(100);
    await using system = await start(() => tableOf(table), { limits: VALUE_LIMITS });
    expect(system.requested).to.include('SET SESSION max_statement_time = 10, sql_select_limit = 1');
    using _bound = system.connection.socket.limitResponse();
    const failed = await system.connection.read('SELECT it').catch((error: unknown) => error);
    expect(failed).to.be.an.instanceOf(Error);
    expect(String(system.connection.socket.failure)).to.include('the response has more than 256 messages');
  });

  it('takes little memory, since tenants may have a thousand databases', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    await using stack = new AsyncDisposableStack();
    const connect = async () => stack.use(await start(() => OK));
    await connect(); // loads the client
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let count = 0; count < 20; count++) await connect();
    collectGarbage();
    const bytes = (process.memoryUsage().heapUsed - before) / 20;
    expect(bytes).to.be.below(150_000); // including the server
  });

  it('logs in to a server that switches the authentication method', async () => {
    const otherwise = Buffer.from('\xfemysql_native_password\x000123456789abcdefghij\0', 'latin1');
    await using system = await start(() => resultOf('1', TEXT_TYPE), {
      logIn: packet(2, otherwise),
      okAt: 4,
    });
    expect((await system.connection.read('SELECT it')).rows).to.deep.equal([['1']]);
  });
});

/** A connection to a server that responds to `SELECT it` as a spec sets, and console output meanwhile. */
async function start(
  respond: () => Buffer,
  {
    logIn,
    okAt = 2,
    limits,
  }: { readonly logIn?: Buffer; readonly okAt?: number; readonly limits?: ResultLimits } = {},
) {
  const sockets = new Set<Socket>();
  const requested: string[] = [];
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.write(packet(0, greeting()));
    socket.once('data', async () => {
      if (logIn) {
        socket.write(logIn);
        await once(socket, 'data');
      }
      socket.write(packet(okAt, OK));
      socket.on('data', (request) => {
        const sql = request.subarray(5).toString();
        requested.push(sql);
        if (sql === 'SELECT VERSION()') socket.write(resultOf(VERSION, TEXT_TYPE));
        else socket.write(sql === 'SELECT it' ? respond() : packet(1, OK));
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const printed: unknown[] = [];
  const { error, warn } = console;
  const print = (line: unknown) => void printed.push(line);
  Object.assign(console, { error: print, warn: print });
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    Object.assign(console, { error, warn });
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  try {
    const connection = await connectMysql({
      ...{ system: 'mysql', host: '127.0.0.1', port, tls: undefined, limits },
      ...{ user: 'reader', password: '', database: 'shop', allowedHosts: new AllowedHosts(['127.0.0.1']) },
    });
    return {
      ...{ connection, printed, requested },
      async [Symbol.asyncDispose]() {
        connection.destroy();
        await stop();
      },
    };
  } catch (failure) {
    await stop();
    throw failure;
  }
}

function greeting(): Buffer {
  const rest = Buffer.alloc(44);
  rest.write('01234567', 4);
  rest.writeUInt16LE(CAPABILITIES & 0xffff, 13);
  rest.writeUInt8(45, 15); // utf8mb4
  rest.writeUInt16LE(2, 16);
  rest.writeUInt16LE(CAPABILITIES >>> 16, 18);
  rest.writeUInt8(21, 20);
  rest.write('0123456789ab', 31);
  return Buffer.concat([Buffer.from(`\n${VERSION}\0`), rest, Buffer.from('mysql_native_password\0')]);
}

/** One row of one column `v`. */
function resultOf(text: string, type: number): Buffer {
  const facts = Buffer.from([12, 63, 0, 0, 4, 0, 0, type, 0, 0, 0, 0, 0]); // 63: binary, as JSON columns have
  const names = ['def', '', '', '', 'v', 'v'].map(counted);
  const payloads = [Buffer.of(1), Buffer.concat([...names, facts]), END, counted(text), END];
  return Buffer.concat(payloads.map((payload, index) => packet(index + 1, payload)));
}

/** Rows of NULL. */
function tableOf({ columns, rows }: { readonly columns: number; readonly rows: number }): Buffer {
  const facts = Buffer.from([12, 63, 0, 0, 4, 0, 0, TEXT_TYPE, 0, 0, 0, 0, 0]);
  const column = Buffer.concat([...['def', '', '', '', 'v', 'v'].map(counted), facts]);
  const payloads = [
    Buffer.of(columns),
    ...Array<Buffer>(columns).fill(column),
    END,
    ...Array<Buffer>(rows).fill(Buffer.alloc(columns, 0xfb)),
    END,
  ];
  return Buffer.concat(payloads.map((payload, index) => packet((index + 1) % 256, payload)));
}

function counted(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}

function packet(sequence: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUIntLE(payload.length, 0, 3);
  head.writeUInt8(sequence, 3);
  return Buffer.concat([head, payload]);
}
