import { expect } from 'chai';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { SqlDatabases } from '#lib/sources/sql/sql-databases.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RawServer } from '#spec/support/raw-server.ts';

const signal = new AbortController().signal;

describe('SqlDatabases', () => {
  it('goes on asking a database though a thousand others were asked since', async () => {
    let connections = 0;
    await using server = await RawServer.start((socket) => {
      connections++;
      socket.destroy();
    });
    using databases = new SqlDatabases({ clock: new ManualClock() });
    const of = (password: string, allowed: readonly string[]) =>
      databases.for({
        ...{ system: 'postgres', host: '127.0.0.1', port: server.port, user: 'u', password, database: 'd' },
        ...{ tls: undefined, allowedHosts: new AllowedHosts(allowed) },
      });
    const first = of('first', ['127.0.0.1']);
    await errorOf(first.rows('SELECT 1', signal));
    const others = Array.from({ length: 1000 }, (_, index) => of(`other ${index}`, []));
    for (const one of others)
      expect(await errorOf(one.rows('SELECT 1', signal))).to.contain('must not be asked');
    expect(connections).to.equal(1);
    expect(await errorOf(first.rows('SELECT 1', signal))).to.not.contain('closed');
    expect(connections).to.equal(2);
  });

  it('asks nothing any more once it is closed', async () => {
    const databases = new SqlDatabases({ clock: new ManualClock() });
    const allowedHosts = new AllowedHosts([]);
    const database = databases.for({
      ...{ system: 'mysql', host: 'a', port: 1, user: '', password: '', database: '' },
      ...{ tls: undefined, allowedHosts },
    });
    databases[Symbol.dispose]();
    expect(await errorOf(database.rows('SELECT 1', signal))).to.equal('the connections are closed');
  });
});
