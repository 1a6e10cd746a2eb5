import { generateKeyPairSync } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { expect } from 'chai';
import { z } from 'zod';
import {
  REDIS_CONNECTION,
  type REDIS_FORMS,
  redisDeploymentOf,
  redisStreamsTrigger,
  redisTrigger,
} from '#lib/scaled-objects/triggers/redis.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { RedisServers } from '#lib/sources/redis/redis-servers.ts';
import { systemClock } from '#lib/time/clock.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { requireProgram } from '#spec/support/machine-programs.ts';
import { opening, planned } from '#spec/support/planned-trigger.ts';
import { type RealRedis, startRedis } from '#spec/support/real-redis.ts';

describe('redisTrigger, with a real redis-server', () => {
  const stack = new AsyncDisposableStack();
  let server: RealRedis;
  const redis = stack.use(
    new RedisServers({ clock: systemClock, allowedHosts: new AllowedHosts(['127.0.0.0/8']) }),
  );
  const list = (metadata: Record<string, string>, authentication: Record<string, string> = {}) =>
    planned(redisTrigger(opening(redis)), {
      metadata: { host: server.host, port: `${server.port}`, ...metadata },
      authentication,
    });

  before(async function () {
    server = stack.use(await startRedis(await requireProgram(this, 'redis-server')));
  });

  after(() => stack.disposeAsync());

  it('counts lists, sets, sorted sets and hashes, and 0 for a missing key', async () => {
    await server.send('RPUSH', 'jobs', 'a', 'b', 'c');
    await server.send('SADD', 'members', 'a', 'b');
    await server.send('ZADD', 'scores', '1', 'a');
    await server.send('HSET', 'fields', 'a', '1', 'b', '2');
    const lengths = [];
    for (const listName of ['jobs', 'members', 'scores', 'fields', 'absent'])
      lengths.push(await (await list({ listName })).send());
    expect(lengths).to.deep.equal([
      { value: 3, isActive: true },
      { value: 2, isActive: true },
      { value: 1, isActive: true },
      { value: 2, isActive: true },
      { value: 0, isActive: false },
    ]);
  });

  it('is active above its activation length, not at it', async () => {
    await server.send('DEL', 'jobs');
    await server.send('RPUSH', 'jobs', 'a', 'b', 'c');
    const metric = await list({ listName: 'jobs', listLength: '7', activationListLength: '3' });
    expect(metric).to.include({ name: 'redis-jobs', target: 7 });
    expect(await metric.send()).to.deep.equal({ value: 3, isActive: false });
    await server.send('RPUSH', 'jobs', 'd');
    expect(await metric.send()).to.deep.equal({ value: 4, isActive: true });
  });

  it('rejects keys of another type, and continues afterwards', async () => {
    await server.send('SET', 'text', 'a');
    expect(await errorOf((await list({ listName: 'text' })).send())).to.equal('ERR unsupported key type');
    expect((await (await list({ listName: 'absent' })).send()).value).to.equal(0);
  });

  it('queries a database with a password, and does not reveal it', async () => {
    await server.send('SELECT', '0');
    await server.send('ACL', 'SETUSER', 'reader', 'on', '>hidden', '~*', '+@all');
    const metric = await list(
      { listName: 'jobs', databaseIndex: '1' },
      { username: 'reader', password: 'hidden' },
    );
    expect(await metric.send()).to.deep.equal({ value: 0, isActive: false });
    expect(metric.query.key + metric.query.description).to.not.contain('hidden');
    const wrong = await list({ listName: 'jobs' }, { username: 'reader', password: 'wrong' });
    expect(await errorOf(wrong.send())).to.match(/^connection to redis failed: 127\.0\.0\.1:\d+: WRONGPASS/);
  });

  it('reports a missing server, and one that is not allowed', async () => {
    const absent = await list({ listName: 'jobs', port: '1' });
    expect(await errorOf(absent.send())).to.match(/^connection to redis failed: 127\.0\.0\.1:1: /);
    using closed = new RedisServers({ clock: systemClock, allowedHosts: new AllowedHosts([]) });
    const metric = await planned(redisTrigger(opening(closed)), {
      metadata: { address: `${server.host}:${server.port}`, listName: 'jobs' },
    });
    expect(await errorOf(metric.send())).to.contain('is not allowed');
  });

  for (const [metadata, message] of [
    [{ host: '', port: '' }, /^no addresses or hosts given\./],
    [{ host: 'a,b' }, /^not enough hosts or ports given\./],
    [{ host: 'a', port: 'x' }, /must be host:port$/],
    [{ listLength: '1.5' }, /^unable to set param "listLength" value "1.5": not a whole number$/],
    [{ enableTLS: 'perhaps' }, /^unable to set param "enableTLS" value "perhaps"/],
  ] as const)
    it(`rejects ${JSON.stringify(metadata)}`, async () => {
      expect(await errorOf(list({ listName: 'jobs', ...metadata }))).to.match(message);
    });

  it('counts streams: all entries, those that are pending, and the lag of a group', async () => {
    const stream = (metadata: Record<string, string>) =>
      planned(redisStreamsTrigger(opening(redis)), {
        metadata: { address: `${server.host}:${server.port}`, stream: 'events', ...metadata },
      });
    for (const id of ['1', '2', '3', '4']) await server.send('XADD', 'events', `${id}-0`, 'k', 'v');
    await server.send('XGROUP', 'CREATE', 'events', 'workers', '0');
    expect(await (await stream({})).send()).to.deep.equal({ value: 4, isActive: true });
    await server.send('XREADGROUP', 'GROUP', 'workers', 'one', 'COUNT', '1', 'STREAMS', 'events', '>');
    const pending = await stream({ consumerGroup: 'workers', pendingEntriesCount: '9' });
    expect(pending).to.include({ target: 9, name: 'redis-streams-events' });
    expect(await pending.send()).to.deep.equal({ value: 1, isActive: true });
    const lag = await stream({ consumerGroup: 'workers', lagCount: '2', activationLagCount: '3' });
    expect(lag.target).to.equal(2);
    expect(await lag.send()).to.deep.equal({ value: 3, isActive: false });
    const absent = await stream({ consumerGroup: 'nobody', lagCount: '2' });
    expect((await absent.send()).value).to.equal(4);
    const missing = await stream({ consumerGroup: 'nobody' });
    expect(await errorOf(missing.send())).to.match(/^NOGROUP/);
  });
});

const CA = rootCertificates[0] ?? '';
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const PKCS8 = { type: 'pkcs8', format: 'pem' } as const;
const KEY = privateKey.export(PKCS8);
const ENCRYPTED = privateKey.export({ ...PKCS8, cipher: 'aes-256-cbc', passphrase: 'pw' }).toString();

const SCHEMA = z.object(REDIS_CONNECTION);
type Given = Readonly<Record<string, string>>;
const place = (given: Given, form: (typeof REDIS_FORMS)[number] = 'server') =>
  redisDeploymentOf(SCHEMA.parse(given), form);

describe('redisDeploymentOf', () => {
  it('finds addresses in a list, and in lists of hosts and ports', () => {
    const { addresses } = place({ address: ' a:1, ,b:2 ', host: 'c, [fd00::7]', port: '3,4' });
    expect(addresses).to.deep.equal([
      ...[
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
      ...[
        { host: 'c', port: 3 },
        { host: 'fd00::7', port: 4 },
      ],
    ]);
  });

  it('queries the database as the user, without TLS by default', () => {
    const given = { address: 'a:1', databaseIndex: '3', username: 'ann', password: 'pw', ca: CA };
    expect(place(given)).to.deep.equal({
      ...{ kind: 'server', addresses: [{ host: 'a', port: 1 }] },
      access: { database: 3, username: 'ann', password: 'pw', tls: undefined },
    });
  });

  it('rejects a CA that is not a certificate', () => {
    expect(() => place({ address: 'a:1', enableTLS: 'true', ca: 'CA' })).to.throw(
      'parameter "ca" has no PEM certificate',
    );
  });

  for (const [given, isEncrypted] of [
    [{ enableTLS: 'true' }, true],
    [{ enableTLS: 'false' }, false],
    [{ tls: 'enable' }, true],
    [{ tls: 'disable' }, false],
  ] as const)
    it(`is ${isEncrypted ? '' : 'not '}encrypted by ${JSON.stringify(given)}`, () => {
      const files = { ca: CA, cert: 'CERT', key: ENCRYPTED, keyPassword: 'pw', unsafeSsl: 'true' };
      const secured = { ca: CA, cert: 'CERT', key: KEY, isUnverified: true };
      const { tls } = place({ address: 'a:1', ...files, ...given }).access;
      expect(tls).to.deep.equal(isEncrypted ? secured : undefined);
    });

  it('queries sentinels with their own login, always in database 0', () => {
    const sentinels = { sentinelMaster: ' main ', sentinelUsername: 'eve', sentinelPassword: 'word' };
    const given = { address: 'a:1', databaseIndex: '3', password: 'pw', enableTLS: 'true', ...sentinels };
    const found = place(given, 'sentinel');
    if (found.kind !== 'sentinel') throw new Error('they are sentinels');
    const { tls } = found.access;
    expect(found.master).to.equal('main');
    expect(found.access.database).to.equal(3);
    expect(tls).to.not.equal(undefined);
    expect(found.sentinelAccess).to.deep.equal({ database: 0, username: 'eve', password: 'word', tls });
  });

  it('takes a cluster, and a list of 50', () => {
    const list = (length: number) => Array.from({ length }, (_, index) => `h:${index + 1}`).join(',');
    expect(place({ address: list(50) }, 'cluster')).to.include({ kind: 'cluster' });
    expect(() => place({ address: list(51) }, 'cluster')).to.throw(
      'parameter "address" must have at most 50 addresses',
    );
  });

  for (const [given, form, message] of [
    [{}, 'server', /^no addresses or hosts given/],
    [{ address: ' , ' }, 'server', /^no addresses or hosts given/],
    [{ host: 'a,b', port: '1' }, 'server', /^not enough hosts or ports given/],
    [{ host: 'a' }, 'server', /^not enough hosts or ports given/],
    [{ address: 'a' }, 'server', /^parameter "address" value "a" must be host:port$/],
    [{ address: 'a:1', enableTLS: 'false', tls: 'enable' }, 'server', /^unable to set `tls` in both/],
    [
      { address: 'a:1', databaseIndex: '1' },
      'cluster',
      /^parameter "databaseIndex" cannot be set for a cluster$/,
    ],
    [{ address: 'a:1' }, 'sentinel', /^missing required parameter "sentinelMaster"/],
  ] as const)
    it(`rejects ${JSON.stringify(given)} for a ${form}`, () => {
      expect(() => place(given as Given, form)).to.throw(message);
    });
});
