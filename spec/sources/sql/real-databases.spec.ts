import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { SqlDatabase } from '#lib/sources/sql/sql-database.ts';
import { openSqlSource } from '#lib/sources/sql/sql-source.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { systemClock } from '#lib/time/clock.ts';
import { type RealDatabase, startMariadb, startPostgres } from '#spec/support/real-databases.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

const SERVERS = [
  ['MariaDB', startMariadb],
  ['PostgreSQL', startPostgres],
] as const;
const signal = new AbortController().signal;

for (const [name, start] of SERVERS) {
  describe(`SqlDatabase, with a real ${name}`, () => {
    const stack = new AsyncDisposableStack();
    let server: RealDatabase;
    let database: SqlDatabase;

    before(async function () {
      server = stack.use(await start(this));
      await server.run(
        'CREATE TABLE jobs (queue varchar(20), priority integer); ' +
          "INSERT INTO jobs VALUES ('mails', 1), ('mails', 2), ('orders', 1), (NULL, 3)",
      );
      database = stack.use(databaseOf());
    });

    after(() => stack.disposeAsync());

    it('returns one number', async () => {
      expect(await samplesOf('SELECT count(*) FROM jobs')).to.deep.equal([{ value: 4, labels: {} }]);
      expect(await samplesOf('SELECT 1.25')).to.deep.equal([{ value: 1.25, labels: {} }]);
      expect(await samplesOf('WITH j AS (SELECT * FROM jobs) SELECT -count(*) FROM j')).to.deep.equal([
        { value: -4, labels: {} },
      ]);
    });

    it('returns rows of labels and a number', async () => {
      const jobs = 'SELECT queue, count(*) AS depth FROM jobs GROUP BY queue ORDER BY count(*), queue DESC';
      expect(await samplesOf(jobs)).to.have.deep.members([
        { value: 1, labels: { queue: 'orders' } },
        { value: 1, labels: {} },
        { value: 2, labels: { queue: 'mails' } },
      ]);
      expect(await samplesOf("SELECT 7 AS value, 'a' AS tier")).to.deep.equal([
        { value: 7, labels: { tier: 'a' } },
      ]);
    });

    it('has no result where there is none', async () => {
      expect(await errorOf('SELECT 1 FROM jobs WHERE priority > 9')).to.match(
        /the query returned no result$/,
      );
      expect(await errorOf('SELECT max(priority) AS top FROM jobs WHERE priority > 9')).to.match(
        /returned NULL in column "top", not a finite number$/,
      );
      expect(await errorOf("SELECT 'many' AS word")).to.match(/returned "many" in column "word"/);
    });

    it('refuses more rows than the maximum, without reading them all', async () => {
      const rows = Array.from({ length: 7 }, (_, index) => `jobs j${index}`).join(', ');
      expect(await errorOf(`SELECT 1 FROM ${rows}`)).to.match(/more than 1000 rows$/);
    });

    it('refuses a response that is too long', async () => {
      const reported = await errorOf("SELECT repeat('a', 12000000)");
      expect(reported).to.match(/longer than 4194304 bytes$/); // even if all of it is available at once
      expect(await samplesOf('SELECT 1')).to.have.length(1);
    });

    for (const text of [
      'DELETE FROM jobs',
      'DROP TABLE jobs',
      'SELECT 1; DELETE FROM jobs',
      'SELECT 1; COMMIT; DELETE FROM jobs',
      'COMMIT',
      'SET sql_select_limit = 5',
      '',
    ])
      it(`does not carry out ${JSON.stringify(text)}`, async () => {
        expect(await errorOf(text)).to.match(/^Cannot query database shop at 127\.0\.0\.1:\d+: /);
        expect(await samplesOf('SELECT count(*) FROM jobs')).to.deep.equal([{ value: 4, labels: {} }]);
      });

    it('does not write by a query, either', async () => {
      const text =
        server.system === 'mysql'
          ? "SELECT 1 FROM jobs INTO OUTFILE '/tmp/never'"
          : 'WITH gone AS (DELETE FROM jobs RETURNING 1) SELECT count(*) FROM gone';
      expect(await errorOf(text)).not.to.equal('no error');
      expect(await samplesOf('SELECT count(*) FROM jobs')).to.deep.equal([{ value: 4, labels: {} }]);
    });

    it('opens at most four connections, however many callers there are', async () => {
      const slow =
        server.system === 'mysql'
          ? 'SELECT connection_id() + sleep(0.2)'
          : 'SELECT pg_backend_pid() FROM pg_sleep(0.2)';
      const samples = await Promise.all(Array.from({ length: 20 }, () => samplesOf(slow)));
      const connections = new Set(samples.map((rows) => rows[0]?.value));
      expect(connections.size).to.be.within(2, 4);
    });

    it('reports the error without the password', async () => {
      expect(await errorOf('SELECT nothing FROM nowhere')).to.match(/nowhere/);
      await using other = databaseStack(databaseOf({ password: 'wrong' }));
      const reported = await errorOf('SELECT 1', other.database);
      expect(reported).to.match(/^Cannot query database shop at 127\.0\.0\.1:\d+: .*reader/i);
      expect(reported).not.to.include('wrong');
    });

    it('dials no address that is not allowed', async () => {
      await using other = databaseStack(databaseOf({ allowedHosts: new AllowedHosts([]) }));
      expect(await errorOf('SELECT 1', other.database)).to.match(/127\.0\.0\.1 is not allowed/);
      await using named = databaseStack(
        databaseOf({ host: 'localhost', allowedHosts: new AllowedHosts([]) }),
      );
      expect(await errorOf('SELECT 1', named.database)).to.match(/localhost is not allowed/);
    });

    it('verifies the server by the given authority and the dialed name', async () => {
      await using verified = databaseStack(databaseOf({ tls: { ca: server.ca } }));
      expect(await verified.database.query(encrypted()).run(signal)).to.deep.equal([
        { value: 1, labels: {} },
      ]);
      expect(await database.query(encrypted()).run(signal)).to.deep.equal([{ value: 0, labels: {} }]);
      await using stranger = databaseStack(databaseOf({ tls: {} }));
      expect(await errorOf('SELECT 1', stranger.database)).to.match(/certificate/);
      await using misnamed = databaseStack(databaseOf({ host: 'localhost', tls: { ca: server.ca } }));
      expect(await errorOf('SELECT 1', misnamed.database)).to.match(/altnames|Hostname/);
      await using trusting = databaseStack(databaseOf({ tls: { isUnverified: true } }));
      expect(await errorOf('SELECT 1', trusting.database)).to.equal('no error');
    });

    /** 1 on an encrypted connection, else 0. */
    function encrypted(): string {
      return server.system === 'mysql'
        ? "SELECT variable_value <> '' FROM information_schema.session_status WHERE variable_name = 'ssl_cipher'"
        : 'SELECT ssl::int FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
    }

    it('is queried by the file and the query of docs/reference/annotations.md', async () => {
      const values = Array.from({ length: 50 }, (_, index) => `(${index < 42 ? 0 : 1})`).join();
      await server.run(`CREATE TABLE orders (done integer); INSERT INTO orders VALUES ${values}`);
      const page = readFileSync('docs/reference/annotations.md', 'utf8');
      const [, text = ''] = /^```yaml\n(system: [^`]*)```$/m.exec(page) ?? [];
      const [, query = ''] = /collector: sql, source: shop, query: "([^"]*)"/.exec(page) ?? [];
      const { system, port, ca } = server;
      const here = { system, port, host: '127.0.0.1', user: 'reader', tls: { ca } };
      await using directory = await TemporaryDirectory.create();
      const path = await directory.write('shop.yaml', JSON.stringify({ ...parse(text), ...here }));
      const environment = { clock: systemClock, logger: new RecordingLogger(), findAddresses: undefined };
      await using source = await openSqlSource({ name: 'shop', path }, environment);
      expect(await source.query(query).run(signal)).to.deep.equal([{ value: 42, labels: {} }]);
      expect([source.allows('billing'), source.allows('other')]).to.deep.equal([true, false]);
    });

    it('aborts a statement with its signal, and continues', async () => {
      const deadline = AbortSignal.timeout(300);
      const text = server.system === 'mysql' ? 'SELECT sleep(600)' : 'SELECT 1 FROM pg_sleep(600)'; // exceeds mocha's timeout
      const failed = await database.rows(text, deadline).catch((error: unknown) => error);
      expect(failed).to.equal(deadline.reason);
      expect(await samplesOf('SELECT 1')).to.have.length(1);
    });

    function databaseOf(more: object = {}): SqlDatabase {
      const { system, port } = server;
      const options = {
        findAddresses: async () => ['127.0.0.1'],
        ...{ system, port, host: '127.0.0.1', user: 'reader', password: 'secret', database: 'shop' },
        ...{ tls: undefined, allowedHosts: new AllowedHosts(['127.0.0.0/8']), ...more },
      };
      return new SqlDatabase(options, { clock: systemClock });
    }

    async function samplesOf(text: string) {
      return await database.query(text).run(signal);
    }

    async function errorOf(text: string, of = database): Promise<string> {
      return await of
        .query(text)
        .run(signal)
        .then(() => 'no error', describeError);
    }
  });
}

function databaseStack(database: SqlDatabase) {
  return { database, [Symbol.asyncDispose]: async () => database[Symbol.dispose]() };
}
