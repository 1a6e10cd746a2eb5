import { expect } from 'chai';
import type { Answer } from 'dns-packet';
import { runForTenant } from '#lib/concurrency/tenant.ts';
import { NameResolver } from '#lib/dns/name-resolver.ts';
import { DnsServer, ipv4, ipv6, type Zone } from '#spec/support/dns-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { until } from '#spec/support/until.ts';

const RESOLV_CONF = { resolvConf: 'search a.test\noptions ndots:5' };

const never = new AbortController().signal;

type Rate = NonNullable<ConstructorParameters<typeof NameResolver>[0]['tenantRate']>;

async function setup(
  zone: Zone,
  { hosts = '', resolvConf = '', maxConcurrent = Infinity, tenantRate = undefined as Rate | undefined } = {},
) {
  const server = await DnsServer.start(zone);
  const clock = new ManualClock();
  const resolver = new NameResolver({
    clock,
    timeoutMs: 3000,
    hosts: async () => hosts,
    resolvConf: async () => resolvConf,
    servers: [server.address],
    maxConcurrent,
    ...(tenantRate && { tenantRate }),
  });
  const message = (name: string) => resolver.resolve(name, never).catch((error: Error) => error.message);
  return { clock, message, resolver, server, [Symbol.dispose]: () => server[Symbol.dispose]() };
}

describe('NameResolver', () => {
  it('returns an IP address unchanged', async () => {
    using system = await setup({});
    expect(await system.message('10.0.0.7')).to.equal('10.0.0.7');
    expect(await system.message('fd00::7')).to.equal('fd00::7');
    expect(system.server.questions).to.deep.equal([]);
  });

  it('queries DNS, and prefers IPv4 addresses', async () => {
    using system = await setup({
      'both.test': [ipv6('both.test', 'fd00::7'), ipv4('both.test', '10.0.0.7')],
      'six.test': [ipv6('six.test', 'fd00::8')],
    });
    expect(await system.message('both.test')).to.equal('10.0.0.7');
    expect(await system.message('six.test')).to.equal('fd00::8');
  });

  it('waits at most 50 ms for IPv6 addresses if it has IPv4 ones', async () => {
    using system = await setup({ 'node.test': [ipv4('node.test', '10.0.0.7'), 'silence about IPv6'] });
    const found = system.message('node.test');
    await until(system.clock, () => system.clock.sleeperCount > 1); // the deadline, and the wait for IPv6
    await system.clock.advance(50);
    expect(await found).to.equal('10.0.0.7');
    const queried = system.server.questions.filter((each) => each === 'AAAA node.test').length;
    expect(queried).to.be.within(1, 3); // at most four tries, which take 7.5 s
  });

  it('reads the hosts file first', async () => {
    using system = await setup({}, { hosts: '10.0.0.9 node-9' });
    expect(await system.message('NODE-9')).to.equal('10.0.0.9');
    expect(system.server.questions).to.deep.equal([]);
  });

  it('completes names by the search list', async () => {
    using system = await setup(
      { 'node.b.test': [ipv4('node.b.test', '10.0.0.7')] },
      { resolvConf: 'search a.test b.test\noptions ndots:5' },
    );
    expect(await system.message('node')).to.equal('10.0.0.7');
    expect(system.server.questions).to.include.members(['A node.a.test', 'A node.b.test']);
    expect(system.server.questions).to.not.include('A node');
  });

  it('reports an unknown host', async () => {
    using system = await setup({});
    expect(await system.message('gone.test')).to.equal('no such host: "gone.test"');
    const error = await system.resolver.resolve('gone.test', never).catch((failure: Error) => failure);
    expect(error).to.have.property('code', 'DNS_NO_SUCH_HOST');
  });

  it('distinguishes a failing name server from an unknown host', async () => {
    using system = await setup({ 'node.a.test': 'SERVFAIL', node: [ipv4('node', '10.0.0.7')] }, RESOLV_CONF);
    expect(await system.message('node')).to.equal('cannot look up "node.a.test": ESERVFAIL');
    const error = await system.resolver.resolve('node', never).catch((failure: Error) => failure);
    expect(error).to.have.property('code', 'DNS_FAILED');
    expect(error).to.have.property('cause').which.includes({ code: 'ESERVFAIL', hostname: 'node.a.test' });
  });

  it('reports an existing name without addresses as an unknown host', async () => {
    using system = await setup({ 'empty.test': [] });
    expect(await system.message('empty.test')).to.equal('no such host: "empty.test"');
  });

  it('evicts the least recently used names', async () => {
    const clock = new ManualClock();
    let readCount = 0;
    const hosts = async () => `10.0.0.9 ${'used.test'} ${queried}`.padEnd(++readCount % 2);
    let queried = '';
    const resolver = new NameResolver({ clock, timeoutMs: 3000, hosts, resolvConf: async () => '' });
    const resolve = async (name: string) => {
      queried = name;
      return await resolver.resolve(name, never);
    };
    await resolve('first.test');
    await resolve('used.test');
    for (let count = 0; count < 9_998; count++) await resolve(`${count}`.padStart(200, 'x'));
    expect(readCount).to.equal(10_000);
    await resolve('used.test');
    await resolve('last.test'); // evicts the first
    await resolve('used.test');
    expect(readCount).to.equal(10_001);
    await resolve('first.test');
    expect(readCount).to.equal(10_002);
  });

  it('caches addresses, and failures for a shorter time', async () => {
    using system = await setup({ 'a.test': [ipv4('a.test', '10.0.0.7')] });
    const questionsAbout = (name: string) =>
      system.server.questions.filter((each) => each === `A ${name}`).length;
    const resolveBoth = () => Promise.all([system.message('a.test'), system.message('gone.test')]);
    await resolveBoth();
    await resolveBoth();
    expect([questionsAbout('a.test'), questionsAbout('gone.test')]).to.deep.equal([1, 1]);
    await system.clock.advance(10_000);
    await resolveBoth();
    expect([questionsAbout('a.test'), questionsAbout('gone.test')]).to.deep.equal([1, 2]);
    await system.clock.advance(30_000);
    await resolveBoth();
    expect([questionsAbout('a.test'), questionsAbout('gone.test')]).to.deep.equal([2, 3]);
  });

  it('times out on a silent name server, and caches the failure', async () => {
    using system = await setup({ 'lost.test': 'silence' });
    const lost = system.message('lost.test');
    await until(system.clock, () => system.server.questions.length > 0);
    await system.clock.advance(3000);
    expect(await lost).to.equal('no response from DNS for "lost.test" within 3s');
    const { length } = system.server.questions;
    expect(await system.message('lost.test')).to.match(/no response from DNS/);
    const error = await system.resolver.resolve('lost.test', never).catch((failure: Error) => failure);
    expect(error).to.have.property('code', 'DNS_SILENT');
    expect(system.server.questions).to.have.length(length);
  });

  it('is not blocked by a thousand names without a response', async () => {
    const names = Array.from({ length: 1000 }, (_, index) => `n${index}.lost.test`);
    const silent = Object.fromEntries(names.map((name) => [name, 'silence' as const]));
    using system = await setup({ ...silent, 'good.test': [ipv4('good.test', '10.0.0.7')] });
    const lost: Promise<string>[] = [];
    while (names.length > 0) {
      lost.push(...names.splice(0, 50).map((name) => system.message(name)));
      await until(system.clock, () => system.server.questions.length >= lost.length); // none is dropped
    }
    expect(await system.message('good.test')).to.equal('10.0.0.7');
    await system.clock.advance(3000);
    expect(new Set((await Promise.all(lost)).map((each) => each.slice(0, 20)))).to.deep.equal(
      new Set(['no response from DNS']),
    );
  });

  it("rejects with the reason of the caller's signal when it aborts first", async () => {
    using system = await setup({ 'lost.test': 'silence' });
    const aborting = new AbortController();
    const lost = system.resolver.resolve('lost.test', aborting.signal).catch((error: Error) => error.message);
    aborting.abort(new Error('the cycle ended'));
    expect(await lost).to.equal('the cycle ended');
  });

  it('returns at most 32 addresses per family, IPv4 before IPv6', async () => {
    const many = Array.from({ length: 40 }, (_, index) => index + 1);
    using system = await setup({
      'both.test': [ipv6('both.test', 'fd00::7'), ipv4('both.test', '10.0.0.7')],
      'many.test': many.flatMap((each) => [
        ipv4('many.test', `10.0.0.${each}`),
        ipv6('many.test', `fd00::${each}`),
      ]),
    });
    expect(await system.resolver.resolveAll('both.test')).to.deep.equal(['10.0.0.7', 'fd00::7']);
    const found = await system.resolver.resolveAll('many.test');
    expect([found.length, found.filter((each) => each.startsWith('10.')).length]).to.deep.equal([64, 32]);
  });

  it('follows aliases, and caches addresses for 30 s regardless of their TTL', async () => {
    const records = (ttl: number): Answer[] => [
      { type: 'CNAME', name: 'a.test', data: 'b.test', ttl },
      { type: 'A', name: 'b.test', data: '10.0.0.7', ttl },
    ];
    for (const ttl of [0, 2 ** 31 - 1]) {
      using system = await setup({ 'a.test': records(ttl) });
      const requestCount = () => system.server.questions.filter((each) => each === 'A a.test').length;
      for (const [afterMs, count] of [
        [0, 1],
        [29_999, 1],
        [1, 2],
      ] as const) {
        await system.clock.advance(afterMs);
        expect(await system.message('a.test')).to.equal('10.0.0.7');
        expect(requestCount()).to.equal(count);
      }
    }
  });

  it('normalizes names like URLs: scripts, case and forms of addresses', async () => {
    using system = await setup({
      'xn--bcher-kva.test': [ipv4('xn--bcher-kva.test', '10.0.0.7')],
      'a.test': [ipv4('a.test', '10.0.0.8')],
    });
    expect(await system.message('Bücher.test')).to.equal('10.0.0.7');
    expect(await system.message('A.TEST.')).to.equal('10.0.0.8');
    expect(await system.message('0x7f.1')).to.equal('127.0.0.1');
  });

  it('sends no query for an invalid name', async () => {
    using system = await setup({});
    for (const name of ['', 'a b', `${'a.'.repeat(127)}a`, `${'a'.repeat(64)}.test`, 'a..test'])
      expect(await system.message(name)).to.equal(`no such host: "${name.slice(0, 253)}"`);
    expect(system.server.questions).to.deep.equal([]);
  });

  describe('with tenants', () => {
    const silence = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}.test`, 'silence' as const]));
    const good = { 'good.test': [ipv4('good.test', '10.0.0.7')] };

    it('leaves as many lookups free for other tenants as one tenant uses', async () => {
      using system = await setup({ ...silence(50), ...good }, { maxConcurrent: 8 });
      const { resolver, clock, server } = system;
      const silent = Array.from({ length: 50 }, (_, index) =>
        resolver.resolveAll(`n${index}.test`, { tenant: 'a' }).catch(({ message }: Error) => message),
      );
      await until(clock, () => new Set(server.questions).size === 8); // four names, both families
      expect(await resolver.resolveAll('good.test', { tenant: 'b' })).to.deep.equal(['10.0.0.7']);
      let own: readonly string[] | undefined;
      const found = resolver.resolveAll('good.test', { tenant: 'a' }).then((addresses) => {
        own = addresses;
      });
      await clock.advance(2999);
      expect(own).to.equal(undefined);
      await clock.advance(1);
      await found;
      expect(own).to.deep.equal(['10.0.0.7']);
      expect((await Promise.all(silent)).slice(3, 5)).to.deep.equal([
        'no response from DNS for "n3.test" within 3s',
        'cannot look up "n4.test" within 3s: other lookups of its namespace are waiting for DNS',
      ]);
    });

    it('starts a limited number of lookups for a tenant, and as many as it wants for the program', async () => {
      const names = Array.from({ length: 6 }, (_, index) => `n${index}.test`);
      const zone = Object.fromEntries(names.map((name) => [name, [ipv4(name, '10.0.0.7')]]));
      using system = await setup(zone, { tenantRate: { perSecond: 1, burst: 2 } });
      const { resolver, clock } = system;
      const found: string[] = [];
      const of = (tenant: string, name: string) =>
        resolver.resolveAll(name, { tenant }).then(
          () => void found.push(`${tenant} ${name}`),
          ({ code }) => void found.push(`${tenant} ${name} ${code}`),
        );
      const greedy = names.map((name) => of('greedy', name));
      await until(clock, () => found.length === 2);
      await of('modest', 'n0.test');
      for (const name of names) await of('', name);
      expect(found.filter((one) => one.startsWith('greedy'))).to.deep.equal([
        'greedy n0.test',
        'greedy n1.test',
      ]);
      await clock.advance(1000);
      await until(clock, () => found.includes('greedy n2.test'));
      await clock.advance(2000);
      await Promise.all(greedy);
      expect(found.at(-1)).to.equal('greedy n5.test DNS_BUSY');
      expect(await resolver.resolveAll('n0.test', { tenant: 'greedy' })).to.deep.equal(['10.0.0.7']); // cached
    });

    it('does not share results between tenants', async () => {
      const zone: Record<string, Zone[string]> = { 'late.test': 'SERVFAIL' };
      using system = await setup(zone);
      const resolve = (tenant: string) =>
        system.resolver.resolveAll('late.test', { tenant }).catch(({ code }) => code);
      expect(await resolve('a')).to.equal('DNS_FAILED');
      zone['late.test'] = [ipv4('late.test', '10.0.0.7')];
      expect([await resolve('a'), await resolve('b')]).to.deep.equal(['DNS_FAILED', ['10.0.0.7']]);
    });

    it('resolves names for the tenant of the current work', async () => {
      using system = await setup({ ...silence(1), ...good }, { maxConcurrent: 2 });
      const find = (tenant: string, name: string) =>
        runForTenant(tenant, async () => {
          await new Promise(setImmediate);
          return await system.resolver.findAddresses(name).catch(({ code }) => code);
        });
      const silent = find('a', 'n0.test');
      await until(system.clock, () => system.server.questions.length > 0);
      expect(await find('b', 'good.test')).to.deep.equal(['10.0.0.7']);
      const waiting = find('a', 'good.test');
      await system.clock.advance(2999);
      expect(system.server.questions).to.include('A good.test').and.to.have.length.below(6);
      await system.clock.advance(1);
      expect([await silent, await waiting]).to.deep.equal(['DNS_SILENT', ['10.0.0.7']]);
    });
  });
});
