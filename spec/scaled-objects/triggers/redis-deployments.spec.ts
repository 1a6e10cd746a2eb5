import { expect } from 'chai';
import { redisStreamsTrigger, redisTrigger } from '#lib/scaled-objects/triggers/redis.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { RedisServers } from '#lib/sources/redis/redis-servers.ts';
import { systemClock } from '#lib/time/clock.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { eventually } from '#spec/support/eventually.ts';
import { freePort } from '#spec/support/free-port.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';
import { requireProgram } from '#spec/support/machine-programs.ts';
import { opening, planned } from '#spec/support/planned-trigger.ts';
import { type RealRedis, type RealRedisOptions, startRedis } from '#spec/support/real-redis.ts';

describe('redisTrigger, of clusters, sentinels and by TLS, with real redis-servers', () => {
  const stack = new AsyncDisposableStack();
  const allowedHosts = new AllowedHosts(['127.0.0.0/8']);
  const redis = stack.use(new RedisServers({ clock: systemClock, allowedHosts }));
  let binary: string;
  const start = async (options?: RealRedisOptions): Promise<RealRedis> =>
    stack.use(await startRedis(binary, options));
  const at = (...servers: readonly RealRedis[]) =>
    servers.map(({ host, port }) => `${host}:${port}`).join(',');
  /** Whether a server is in a working cluster; an isolated one meets the other, again if they lose contact. */
  const joins = async (server: RealRedis, other: RealRedis) => {
    const state = String(await server.send('CLUSTER', 'INFO'));
    if (state.includes('cluster_known_nodes:1\r'))
      await server.send('CLUSTER', 'MEET', other.host, `${other.port}`, `${other.busPort}`);
    return state.includes('cluster_state:ok');
  };
  const list = (
    type: string,
    metadata: Record<string, string>,
    authentication: Record<string, string> = {},
  ) =>
    planned(redisTrigger(opening(redis)), {
      type,
      metadata: { listName: 'jobs', ...metadata },
      authentication,
    });

  before(async function () {
    binary = await requireProgram(this, 'redis-server');
  });

  after(() => stack.disposeAsync());

  it('queries the server of a cluster that has the key, whichever is configured', async () => {
    const [first, second] = [await start({ isClustered: true }), await start({ isClustered: true })];
    await first.send('CLUSTER', 'ADDSLOTSRANGE', '0', '8191');
    await second.send('CLUSTER', 'ADDSLOTSRANGE', '8192', '16383');
    await eventually(async () => (await joins(first, second)) && (await joins(second, first)));
    const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const key of keys) {
      for (const server of [first, second])
        await server
          .send('RPUSH', key, 'x', 'y')
          .catch((error: Error) => expect(error.message).to.match(/^MOVED/));
      for (const address of [at(first), at(second)])
        expect((await (await list('redis-cluster', { address, listName: key })).send()).value, key).to.equal(
          2,
        );
    }
    const gone = `127.0.0.1:${await freePort()}`;
    expect(
      (await (await list('redis-cluster', { address: `${gone},${at(second)}`, listName: 'a' })).send()).value,
    ).to.equal(2);
    const plain = await Promise.allSettled(
      keys.map(async (listName) => await (await list('redis', { address: at(first), listName })).send()),
    );
    expect(plain.some(({ status }) => status === 'rejected')).to.equal(true);
    for (const server of [first, second]) await server.send('XADD', 'orders', '*', 'a', '1').catch(() => {});
    const stream = await planned(redisStreamsTrigger(opening(redis)), {
      type: 'redis-cluster-streams',
      metadata: { address: at(first), stream: 'orders' },
    });
    expect((await stream.send()).value).to.equal(1);
  });

  it('queries the server that sentinels name, with the passwords of each', async () => {
    const master = await start();
    await master.send('RPUSH', 'jobs', 'a', 'b', 'c');
    const sentinel = await start({ watchedPort: master.port });
    await sentinel.send('ACL', 'SETUSER', 'watcher', 'on', '>first', '+@all');
    await master.send('ACL', 'SETUSER', 'reader', 'on', '>second', '~*', '+@all');
    const gone = `127.0.0.1:${await freePort()}`;
    const metadata = {
      addresses: `${gone},${at(sentinel)}`,
      sentinelMaster: 'main',
      sentinelUsername: 'watcher',
    };
    const passwords = { sentinelPassword: 'first', password: 'second' };
    const metric = await list('redis-sentinel', { ...metadata, username: 'reader' }, passwords);
    expect(metric.name).to.equal('redis-jobs');
    expect((await metric.send()).value).to.equal(3);
    expect(metric.query.key + metric.query.description).to.not.match(/first|second/);
    expect(
      await errorOf(
        (await list('redis-sentinel', { ...metadata, sentinelMaster: 'other' }, passwords)).send(),
      ),
    ).to.match(/has no master "other"$/);
    expect(
      await errorOf(
        (await list('redis-sentinel', metadata, { ...passwords, sentinelPassword: 'no' })).send(),
      ),
    ).to.match(/^connection to redis failed: .*WRONGPASS/);
    await master.send('XADD', 'orders', '*', 'a', '1');
    const stream = await planned(redisStreamsTrigger(opening(redis)), {
      type: 'redis-sentinel-streams',
      metadata: { ...metadata, stream: 'orders' },
      authentication: { sentinelPassword: 'first' },
    });
    expect((await stream.send()).value).to.equal(1);
  });

  it('speaks TLS by certificates of both sides', async () => {
    const authority = new TestAuthority('spec-ca');
    const client = authority.leaf();
    const server = await start({
      tls: {
        ca: authority.pem,
        ...authority.leaf({ usages: ['serverAuth', 'clientAuth'], names: ['127.0.0.1'] }),
      },
    });
    await server.send('RPUSH', 'jobs', 'a');
    const existing = { tls: 'enable', ca: authority.pem, ...client };
    expect((await (await list('redis', { address: at(server) }, existing)).send()).value).to.equal(1);
    const unsafe = { address: at(server), enableTLS: 'true', unsafeSsl: 'true' };
    expect((await (await list('redis', unsafe, client)).send()).value).to.equal(1);
    const { ca: _, ...unknown } = existing;
    expect(await errorOf((await list('redis', { address: at(server) }, unknown)).send())).to.match(
      /issuer|self-signed|verify/,
    );
    expect(await errorOf((await list('redis', { address: at(server) })).send())).to.match(
      /^connection to redis failed/,
    );
  });

  it('names the invalid parameter', async () => {
    const refusal = (
      type: string,
      metadata: Record<string, string>,
      authentication?: Record<string, string>,
    ) => errorOf(list(type, metadata, authentication));
    expect(await refusal('redis-cluster', {})).to.match(/^no addresses or hosts given\./);
    expect(await refusal('redis-cluster', { hosts: 'a,b', ports: '1' })).to.match(
      /^not enough hosts or ports given\./,
    );
    expect(await refusal('redis-cluster', { address: 'a:1', databaseIndex: '2' })).to.match(
      /cannot be set for a cluster$/,
    );
    expect(await refusal('redis-cluster', { address: 'a:1,b' })).to.match(/"b" must be host:port$/);
    expect(await refusal('redis-sentinel', { address: 'a:1' })).to.match(
      /^missing required parameter "sentinelMaster"/,
    );
    expect(await refusal('redis', { address: 'a:1', enableTLS: 'true' }, { tls: 'enable' })).to.match(
      /^unable to set `tls` in both/,
    );
    expect(await refusal('redis-cluster', { address: 'a:1,'.repeat(51) })).to.match(/at most 50 addresses$/);
    const both = await list('redis-cluster', { address: 'a:1', hosts: 'b,c', ports: '2,3' });
    expect(both.query.description).to.contain('a:1, b:2, c:3');
  });
});
