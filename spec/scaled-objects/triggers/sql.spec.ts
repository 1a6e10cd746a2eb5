import { expect } from 'chai';
import { mysqlTrigger } from '#lib/scaled-objects/triggers/mysql.ts';
import { postgresqlTrigger } from '#lib/scaled-objects/triggers/postgresql.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { SqlDatabases } from '#lib/sources/sql/sql-database.ts';
import { systemClock } from '#lib/time/clock.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { opening, planned } from '#spec/support/planned-trigger.ts';
import { type RealDatabase, startMariadb, startPostgres } from '#spec/support/real-databases.ts';

const allowedHosts = new AllowedHosts(['127.0.0.0/8']);
const JOBS = "CREATE TABLE jobs (state varchar(20)); INSERT INTO jobs VALUES ('new'), ('new'), ('done')";
const QUERY = "SELECT count(*) FROM jobs WHERE state = 'new'";

for (const [name, start] of [
  ['mysqlTrigger', startMariadb],
  ['postgresqlTrigger', startPostgres],
] as const)
  describe(`${name}, with a real database`, () => {
    const stack = new AsyncDisposableStack();
    let server: RealDatabase;
    const options = opening(stack.use(new SqlDatabases({ clock: systemClock, allowedHosts })));

    before(async function () {
      server = stack.use(await start(this));
      await server.run(JOBS);
    });

    after(() => stack.disposeAsync());

    const plan = (
      query: string,
      more: Record<string, string> = {},
      authentication: Record<string, string> = {},
    ) => {
      const [host, user, password, database] = ['127.0.0.1', 'reader', 'secret', 'shop'];
      const { port } = server;
      const isMysql = name === 'mysqlTrigger';
      return planned((isMysql ? mysqlTrigger : postgresqlTrigger)(options), {
        metadata: {
          ...{ query, host, port: `${port}`, dbName: database },
          ...(isMysql
            ? { username: user, queryValue: '2' }
            : { userName: user, sslmode: 'disable', targetQueryValue: '2' }),
          ...more,
        },
        authentication: { password, ...authentication },
      });
    };

    it('reads the first column of the first row', async () => {
      const metric = await plan(QUERY);
      expect(metric.target).to.equal(2);
      expect(await metric.send()).to.deep.equal({ value: 2, isActive: true });
      expect((await (await plan('SELECT 1.5')).send()).value).to.equal(1.5);
    });

    it('takes a connection in one text', async () => {
      const [host, user, password, database] = ['127.0.0.1', 'reader', 'secret', 'shop'];
      const { port } = server;
      const text =
        name === 'mysqlTrigger'
          ? { connectionString: `${user}:${password}@tcp(${host}:${port})/${database}` }
          : {
              connection: `host=${host} port=${port} user=${user} password='${password}' dbname=${database} sslmode=disable`,
            };
      expect(await (await plan(QUERY, { host: 'elsewhere' }, text)).send()).to.deep.equal({
        value: 2,
        isActive: true,
      });
    });

    it('reports what cannot be read, without the password', async () => {
      for (const query of ["SELECT 'a'", 'SELECT 1 FROM jobs WHERE false', 'SELECT nothing']) {
        const message = await errorOf((await plan(query)).send());
        expect(message).to.match(
          name === 'mysqlTrigger'
            ? /^error inspecting MySQL: /
            : /^error inspecting postgreSQL: could not query postgreSQL: /,
        );
      }
    });
  });
