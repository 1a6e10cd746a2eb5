import { expect } from 'chai';
import { NameResolver } from '#lib/resource-metrics/scrape/dns/name-resolver.ts';
import { DnsServer, ipv4, ipv6, type Zone } from '#spec/support/dns-server.ts';
import { memoryInUse } from '#spec/support/held-resources.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { until } from '#spec/support/until.ts';

const RESOLV_CONF = { resolvConf: 'search a.test\noptions ndots:5' };

const never = new AbortController().signal;

async function setup(zone: Zone, { hosts = '', resolvConf = '' } = {}) {
  const server = await DnsServer.start(zone);
  const clock = new ManualClock();
  const resolver = new NameResolver({
    clock,
    timeoutMs: 3000,
    hosts: async () => hosts,
    resolvConf: async () => resolvConf,
    servers: [server.address],
  });
  const message = (name: string) => resolver.resolve(name, never).catch((error: Error) => error.message);
  return { clock, message, resolver, server, [Symbol.dispose]: () => server[Symbol.dispose]() };
}

describe('NameResolver', () => {
  it('takes an IP address as it is', async () => {
    using system = await setup({});
    expect(await system.message('10.0.0.7')).to.equal('10.0.0.7');
    expect(await system.message('fd00::7')).to.equal('fd00::7');
    expect(system.server.questions).to.deep.equal([]);
  });

  it('asks DNS, and prefers IPv4 where a name has both', async () => {
    using system = await setup({
      'both.test': [ipv6('both.test', 'fd00::7'), ipv4('both.test', '10.0.0.7')],
      'six.test': [ipv6('six.test', 'fd00::8')],
    });
    expect(await system.message('both.test')).to.equal('10.0.0.7');
    expect(await system.message('six.test')).to.equal('fd00::8');
  });

  it('has an IPv4 address at once from a name server that never responds to questions for IPv6', async () => {
    using system = await setup({ 'node.test': [ipv4('node.test', '10.0.0.7'), 'silence about IPv6'] });
    expect(await system.message('node.test')).to.equal('10.0.0.7');
    const asked = system.server.questions.filter((each) => each === 'AAAA node.test').length;
    expect(asked).to.be.within(1, 3); // who waits for it gives up after the fourth time, which takes 7.5 s
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

  it('says so when there is no such host', async () => {
    using system = await setup({});
    expect(await system.message('gone.test')).to.equal('no such host: "gone.test"');
    const error = await system.resolver.resolve('gone.test', never).catch((failure: Error) => failure);
    expect(error).to.have.property('code', 'DNS_NO_SUCH_HOST');
  });

  it('tells a name server that fails from a host that does not exist', async () => {
    using system = await setup({ 'node.a.test': 'SERVFAIL', node: [ipv4('node', '10.0.0.7')] }, RESOLV_CONF);
    expect(await system.message('node')).to.equal('cannot look up "node.a.test": ESERVFAIL');
    const error = await system.resolver.resolve('node', never).catch((failure: Error) => failure);
    expect(error).to.have.property('code', 'DNS_FAILED');
    expect(error).to.have.property('cause').which.includes({ code: 'ESERVFAIL', hostname: 'node.a.test' });
  });

  it('has no address of a name that exists without one', async () => {
    using system = await setup({ 'empty.test': [] });
    expect(await system.message('empty.test')).to.equal('no such host: "empty.test"');
  });

  it('holds nothing of names whose time is over', async () => {
    const before = await memoryInUse();
    const clock = new ManualClock();
    let listed = '';
    const hosts = async () => `10.0.0.9 ${listed}`;
    const resolver = new NameResolver({ clock, timeoutMs: 3000, hosts, resolvConf: async () => '' });
    for (let count = 0; count < 1_000; count++) {
      listed = `${count}`.padEnd(20_000, 'x');
      expect(await resolver.resolve(listed, never)).to.equal('10.0.0.9');
      await clock.advance(30_000);
    }
    expect(((await memoryInUse()) - before) / 2 ** 20).to.be.below(5); // all of them are 19 MiB
    expect(await resolver.resolve(listed, never)).to.equal('10.0.0.9');
  });

  it('reuses what it found, and what it did not find for a shorter time', async () => {
    using system = await setup({ 'a.test': [ipv4('a.test', '10.0.0.7')] });
    const askedFor = (name: string) => system.server.questions.filter((each) => each === `A ${name}`).length;
    const resolveBoth = () => Promise.all([system.message('a.test'), system.message('gone.test')]);
    await resolveBoth();
    await resolveBoth();
    expect([askedFor('a.test'), askedFor('gone.test')]).to.deep.equal([1, 1]);
    await system.clock.advance(10_000);
    await resolveBoth();
    expect([askedFor('a.test'), askedFor('gone.test')]).to.deep.equal([1, 2]);
    await system.clock.advance(30_000);
    await resolveBoth();
    expect([askedFor('a.test'), askedFor('gone.test')]).to.deep.equal([2, 3]);
  });

  it('gives up on a silent name server when its time is over, and does not ask again at once', async () => {
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

  it('lets a thousand names without a response stall nobody', async () => {
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

  it("ends with the caller's own reason when that one gives up first", async () => {
    using system = await setup({ 'lost.test': 'silence' });
    const aborting = new AbortController();
    const lost = system.resolver.resolve('lost.test', aborting.signal).catch((error: Error) => error.message);
    aborting.abort(new Error('the cycle ended'));
    expect(await lost).to.equal('the cycle ended');
  });
});
