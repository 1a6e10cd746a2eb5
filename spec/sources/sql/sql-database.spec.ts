import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { SQL_SYSTEMS, type SqlSystem } from '#lib/sources/sql/sql-connection.ts';
import { SqlDatabase } from '#lib/sources/sql/sql-database.ts';
import { describeError } from '#lib/telemetry/logger.ts';
import { systemClock } from '#lib/time/clock.ts';

const MEBIBYTE = 1024 * 1024;

/** What a peer that is no database says as soon as somebody connects. */
const PEERS: Readonly<Record<string, (socket: Socket) => void>> = {
  'speaks HTTP': (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
  'hangs up': (socket) => void socket.end(),
  'resets the connection': (socket) => void socket.resetAndDestroy(),
  'sends zeros': (socket) => void socket.end(Buffer.alloc(MEBIBYTE)),
  'sends all ones': (socket) => void socket.end(Buffer.alloc(MEBIBYTE, 0xff)),
  'says nothing': () => {},
};

describe('SqlDatabase', () => {
  for (const system of SQL_SYSTEMS) {
    for (const [what, say] of Object.entries(PEERS)) {
      it(`of ${system} fails with a peer that ${what}, and with nothing else`, async () => {
        await using peer = await listen(say);
        using database = databaseAt(peer.port, system);
        const deadline = AbortSignal.timeout(500);
        const told = await database
          .query('SELECT 1')
          .ask(deadline)
          .then(() => 'no error', describeError);
        expect(told).to.match(/^Cannot ask database shop at 127\.0\.0\.1:\d+: .|aborted due to timeout/);
      });
    }
  }

  it('breaks off a peer that never ends, before it has sent much', async () => {
    let sent = 0;
    await using peer = await listen((socket) => {
      // A handshake of MySQL whose version has no end.
      const more = () => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536, 'a'))) sent += 65_536;
      };
      socket.on('drain', more);
      more();
    });
    using database = databaseAt(peer.port, 'mysql');
    const told = await database
      .rows('SELECT 1', AbortSignal.timeout(5_000))
      .then(() => 'none', describeError);
    expect(told).not.to.equal('none');
    expect(sent).to.be.below(64 * MEBIBYTE);
  });

  it('tells nobody the password that a database repeats in its error', async () => {
    const fields = Buffer.from('SFATAL\0C28P01\0Mno entry for hidden-word\0\0');
    const length = Buffer.alloc(4);
    length.writeUInt32BE(fields.length + length.length);
    await using peer = await listen((socket) =>
      socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), length, fields]))),
    );
    using database = databaseAt(peer.port, 'postgres', { password: 'hidden-word' });
    const told = await database.rows('SELECT 1', new AbortController().signal).catch(describeError);
    expect(told).to.match(/^Cannot ask database shop at 127\.0\.0\.1:\d+: no entry for …$/);
  });

  it('tells two databases apart by all that makes them different, and shows no password', () => {
    const keys = [{}, { password: 'other' }, { database: 'b' }, { user: 'b' }, { tls: {} }].map((more) => {
      using database = databaseAt(1, 'postgres', more);
      const { key, description } = database.query('SELECT 1');
      expect(key + description).not.to.match(/secret|other/);
      return key;
    });
    expect(new Set(keys)).to.have.length(5);
    using same = databaseAt(1, 'postgres');
    expect(same.query('SELECT 1').key).to.equal(keys[0]);
    expect(same.query('SELECT\n1').description).to.equal('SELECT 1 of database shop at 127.0.0.1:1');
  });
});

function databaseAt(port: number, system: SqlSystem, more: object = {}): SqlDatabase {
  const options = {
    ...{ system, port, host: '127.0.0.1', user: 'reader', password: 'secret', database: 'shop' },
    ...{ tls: undefined, allowedHosts: new AllowedHosts(['127.0.0.0/8']), ...more },
  };
  return new SqlDatabase(options, { clock: systemClock });
}

async function listen(say: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    say(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
