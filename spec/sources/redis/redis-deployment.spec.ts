import { expect } from 'chai';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { queryDeployment, type RedisDeployment } from '#lib/sources/redis/redis-deployment.ts';
import { RedisServers } from '#lib/sources/redis/redis-servers.ts';
import { systemClock } from '#lib/time/clock.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { RawServer } from '#spec/support/raw-server.ts';

describe('queryDeployment', () => {
  let stack: AsyncDisposableStack;
  let redis: RedisServers;

  beforeEach(() => {
    stack = new AsyncDisposableStack();
    redis = stack.use(
      new RedisServers({ clock: systemClock, allowedHosts: new AllowedHosts(['127.0.0.0/8']) }),
    );
  });

  afterEach(() => stack.disposeAsync());

  const play = async (respond: (text: string) => string) => {
    let requested = 0;
    const server = stack.use(
      await RawServer.start((socket) =>
        socket.on('data', (chunk) => {
          const text = String(chunk);
          if (!text.includes('PING')) requested++;
          socket.write(text.includes('PING') ? '+PONG\r\n' : respond(text));
        }),
      ),
    );
    const access = { database: 0, username: undefined, password: undefined, tls: undefined };
    const addresses = [{ host: '127.0.0.1', port: server.port }];
    const cluster: RedisDeployment = { kind: 'cluster', addresses, access };
    const sentinel: RedisDeployment = {
      kind: 'sentinel',
      addresses,
      access,
      sentinelAccess: access,
      master: 'a',
    };
    const request = (deployment: RedisDeployment) =>
      queryDeployment(
        redis,
        { deployment, work: (send) => send('LLEN', 'jobs') },
        new AbortController().signal,
      );
    return { ...{ server, cluster, sentinel, request }, requested: () => requested };
  };

  it('follows at most five redirections', async () => {
    const { request, cluster, requested } = await play(() => '-MOVED 1 :7\r\n');
    expect(await errorOf(request(cluster))).to.match(/^connection to redis failed: 127\.0\.0\.1:7: /);
    const loop: { port?: number } = {};
    const lying = await play(() => `-MOVED 1 :${loop.port}\r\n`);
    loop.port = lying.server.port;
    expect(await errorOf(lying.request(lying.cluster))).to.match(/^MOVED 1 /);
    expect([requested(), lying.requested()]).to.deep.equal([1, 6]);
  });

  it('follows redirections to any valid port', async () => {
    for (const [port, reported] of [
      [0, /^MOVED 1 /],
      [1, /^connection to redis failed: 127\.0\.0\.1:1: /],
      [65_536, /^MOVED 1 /],
      ['none', /^MOVED 1 /],
    ] as const) {
      const { request, cluster } = await play(() => `-MOVED 1 :${port}\r\n`);
      expect(await errorOf(request(cluster)), `${port}`).to.match(reported);
    }
  });

  it('sends ASKING to the server that imports a key', async () => {
    const target = await play((text) =>
      text.includes('ASKING') && text.includes('LLEN') ? '+OK\r\n:7\r\n' : '',
    );
    const { request, cluster } = await play(() => `-ASK 1 127.0.0.1:${target.server.port}\r\n`);
    expect(await request(cluster)).to.equal(7);
  });

  it('does not follow redirections to addresses that are not allowed', async () => {
    const { request, cluster } = await play(() => '-MOVED 1 169.254.169.254:80\r\n');
    expect(await errorOf(request(cluster))).to.match(/169\.254\.169\.254 is not allowed/);
    const sentinel = await play(() => '*2\r\n$9\r\n10.1.2.3\0\r\n$2\r\n80\r\n');
    expect(await errorOf(sentinel.request(sentinel.sentinel))).to.match(/^connection to redis failed/);
    const other = await play(() => '*2\r\n$8\r\n10.1.2.3\r\n$2\r\n80\r\n');
    expect(await errorOf(other.request(other.sentinel))).to.match(/10\.1\.2\.3 is not allowed/);
  });

  it('queries the next sentinel if one has no master', async () => {
    const master = await play(() => ':7\r\n');
    const { port } = master.server;
    const knows = await play(() => `*2\r\n$9\r\n127.0.0.1\r\n$${`${port}`.length}\r\n${port}\r\n`);
    const knowsNone = await play(() => '*-1\r\n');
    const among = (...played: (typeof knows)[]) =>
      ({
        ...knows.sentinel,
        addresses: played.flatMap(({ sentinel }) => sentinel.addresses),
      }) as RedisDeployment;
    expect(await knows.request(among(knowsNone, knows))).to.equal(7);
    expect([knowsNone.requested(), knows.requested()]).to.deep.equal([1, 1]);
    expect(await knows.request(among(knows, knowsNone))).to.equal(7);
    expect([knowsNone.requested(), knows.requested()]).to.deep.equal([1, 2]);
  });

  it('ignores invalid servers', async () => {
    for (const reported of [
      '*-1\r\n',
      '*0\r\n',
      ':7\r\n',
      '*2\r\n$1\r\na\r\n$1\r\nb\r\n',
      '*2\r\n$1\r\na\r\n$5\r\n70000\r\n',
    ]) {
      const { request, sentinel } = await play(() => reported);
      expect(await errorOf(request(sentinel)), reported).to.match(/has no master "a"$/);
    }
    for (const reported of ['-MOVED 1 a\r\n', '-MOVED x 127.0.0.1:1\r\n', '-MOVED 1 a:99999\r\n']) {
      const { request, cluster } = await play(() => reported);
      expect(await errorOf(request(cluster)), reported).to.match(/^MOVED /);
    }
  });
});
