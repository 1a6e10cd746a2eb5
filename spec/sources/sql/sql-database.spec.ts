import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { SQL_SYSTEMS, type SqlSystem } from '#lib/sources/sql/sql-connection.ts';
import { SqlDatabase, SqlDatabases, sqlQuery, toSamples } from '#lib/sources/sql/sql-database.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { systemClock } from '#lib/time/clock.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RawServer } from '#spec/support/raw-server.ts';

const MEBIBYTE = 1024 * 1024;

/** The first bytes of peers that are not databases. */
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
    for (const [what, respond] of Object.entries(PEERS)) {
      it(`of ${system} fails with a peer that ${what}, and with nothing else`, async () => {
        await using peer = await listen(respond);
        using database = databaseAt(peer.port, system);
        const deadline = AbortSignal.timeout(500);
        const reported = await database
          .query('SELECT 1')
          .run(deadline)
          .then(() => 'no error', describeError);
        expect(reported).to.match(
          /^Cannot query database shop at 127\.0\.0\.1:\d+: .|aborted due to timeout/,
        );
      });
    }
  }

  it('breaks off a peer that never ends, before it has sent much', async () => {
    let sent = 0;
    await using peer = await listen((socket) => {
      // A MySQL handshake with an endless version.
      const more = () => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536, 'a'))) sent += 65_536;
      };
      socket.on('drain', more);
      more();
    });
    using database = databaseAt(peer.port, 'mysql');
    const reported = await database
      .rows('SELECT 1', AbortSignal.timeout(5_000))
      .then(() => 'none', describeError);
    expect(reported).not.to.equal('none');
    expect(sent).to.be.below(64 * MEBIBYTE);
  });

  it('redacts the password in errors of the database', async () => {
    const fields = Buffer.from('SFATAL\0C28P01\0Mno entry for hidden-word\0\0');
    const length = Buffer.alloc(4);
    length.writeUInt32BE(fields.length + length.length);
    await using peer = await listen((socket) =>
      socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), length, fields]))),
    );
    using database = databaseAt(peer.port, 'postgres', { password: 'hidden-word' });
    const reported = await database.rows('SELECT 1', new AbortController().signal).catch(describeError);
    expect(reported).to.match(/^Cannot query database shop at 127\.0\.0\.1:\d+: no entry for …$/);
  });

  it('has a key of all connection options, without the password', () => {
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

async function listen(respond: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    respond(socket);
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

describe('sqlQuery', () => {
  const request = async (value: string | null) => {
    const rows = async () => ({ columns: ['a'], rows: [[value]] });
    const query = sqlQuery({ key: 'database', rows }, { text: 'SELECT a FROM b', error: 'cannot ask' });
    const [sample] = await query.run(new AbortController().signal);
    return sample?.value;
  };

  it('reads numbers as databases write them', async () => {
    expect(await request('12.50')).to.equal(12.5);
    expect(await request('-1e3')).to.equal(-1000);
    expect(await request(`${'9'.repeat(65)}.5`)).to.equal(1e65);
  });

  it('does not treat invalid numbers as 0, not even blanks', async () => {
    for (const value of [' ', '', '\t', '0x10', 'true', 'NaN', 'Infinity', null])
      expect(await errorOf(request(value)), JSON.stringify(value)).to.contain('the value is not a number');
  });
});

describe('toSamples', () => {
  it('uses the column "value" as the number, and the last one without it', () => {
    expect(toSamples({ columns: ['Value', 'queue'], rows: [['1', 'a']] })).to.deep.equal([
      { value: 1, labels: { queue: 'a' } },
    ]);
    expect(toSamples({ columns: ['queue', 'depth'], rows: [['a', '2']] })).to.deep.equal([
      { value: 2, labels: { queue: 'a' } },
    ]);
  });

  it('omits NULL labels, and accepts names of object properties', () => {
    const { labels } = toSamples({ columns: ['__proto__', 'b', 'n'], rows: [['a', null, '1']] })[0] ?? {};
    expect(Object.entries(labels ?? {})).to.deep.equal([['__proto__', 'a']]);
  });

  for (const [text, value] of [
    ['0', 0],
    ['-12.50', -12.5],
    ['1e3', 1000],
    ['.5', 0.5],
    ['+7.', 7],
  ] as const)
    it(`reads ${text}`, () => {
      expect(toSamples({ columns: ['n'], rows: [[text]] })[0]?.value).to.equal(value);
    });

  for (const text of [
    '',
    ' 1',
    '1 ',
    't',
    'NaN',
    'Infinity',
    '-Infinity',
    '1e999',
    '0x10',
    '1,5',
    '1'.repeat(500),
  ])
    it(`rejects ${JSON.stringify(text.slice(0, 20))} as a number`, () => {
      expect(() => toSamples({ columns: ['n'], rows: [[text]] })).to.throw(/not a number$/);
    });

  it('shows only the beginning of a long text', () => {
    const rows = [['a'.repeat(1_000_000)]];
    expect(() => toSamples({ columns: ['n'], rows })).to.throw(
      /^the query returned "a{200}…" in column "n", not a number$/,
    );
  });

  it('has no result without rows, with NULL, and with rows beyond the bound', () => {
    expect(() => toSamples({ columns: ['n'], rows: [] })).to.throw('the query returned no result');
    expect(() => toSamples({ columns: ['n'], rows: [[null]] })).to.throw('returned NULL in column "n"');
    expect(() => toSamples({ columns: [], rows: [[]] })).to.throw('NULL');
    const rows = Array.from({ length: 1001 }, () => ['1']);
    expect(() => toSamples({ columns: ['n'], rows })).to.throw('more than 1000 rows');
    expect(toSamples({ columns: ['n'], rows: rows.slice(1) })).to.have.length(1000);
  });
});

const signal = new AbortController().signal;

describe('SqlDatabases', () => {
  it('continues to query a database after a thousand others', async () => {
    let connections = 0;
    await using server = await RawServer.start((socket) => {
      connections++;
      socket.destroy();
    });
    const allowedHosts = new AllowedHosts(['127.0.0.1']);
    using databases = new SqlDatabases({ clock: new ManualClock(), allowedHosts });
    const of = (password: string, host: string) =>
      databases.for({
        ...{ system: 'postgres', host, port: server.port, user: 'u', password, database: 'd' },
        tls: undefined,
      });
    const first = of('first', '127.0.0.1');
    await errorOf(first.rows('SELECT 1', signal));
    const others = Array.from({ length: 1000 }, (_, index) => of(`other ${index}`, '127.0.0.2'));
    for (const one of others)
      expect(await errorOf(one.rows('SELECT 1', signal))).to.contain('is not allowed');
    expect(connections).to.equal(1);
    expect(await errorOf(first.rows('SELECT 1', signal))).to.not.contain('closed');
    expect(connections).to.equal(2);
  });

  it('rejects queries after it is closed', async () => {
    const databases = new SqlDatabases({ clock: new ManualClock(), allowedHosts: new AllowedHosts([]) });
    const database = databases.for({
      ...{ system: 'mysql', host: 'a', port: 1, user: '', password: '', database: '' },
      tls: undefined,
    });
    databases[Symbol.dispose]();
    expect(await errorOf(database.rows('SELECT 1', signal))).to.equal('the connections are closed');
  });
});
