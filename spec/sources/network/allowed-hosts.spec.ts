import type dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { AllowedHosts, createAllowedLookup, FORBIDDEN_RANGES } from '#lib/sources/network/allowed-hosts.ts';

/** Addresses of this machine, its link, multicast groups, or a cloud's metadata, in all forms. */
const FORBIDDEN = [
  ...[
    '127.0.0.1',
    '127.1.2.3',
    '0.0.0.0',
    '169.254.169.254',
    '224.0.0.1',
    '255.255.255.255',
    '100.100.100.200',
  ],
  ...['168.63.129.16', '::', '::1', 'fe80::1', 'fe80::1%eth0', 'ff02::1', 'fd00:ec2::254', 'fd20:ce::254'],
  ...['192.0.0.192', 'fd00:ec2::23', 'fd00:ec2::253', 'fd00:42::42', 'fd00:c1::a9fe:a9fe'],
  ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:169.254.169.254', '::127.0.0.1', '::ffff:0:127.0.0.1'],
  ...['64:ff9b::a9fe:a9fe', '64:ff9b::127.0.0.1', '64:ff9b:1::169.254.169.254', '64:ff9b:1:a9fe:a9:fe00::'],
  ...['2002:7f00:1::', '2002:a9fe:a9fe::1', '2002:c000:c0::', '64:ff9b::192.0.0.192'],
  ...['2001:0:a9fe:a9fe::', '2001:0:808:808:0:0:5601:5601', '2001:0:7f00:1:0:0:f7f7:f7f7'], // Teredo: server, inverted client
];

const PLAIN = [
  '10.96.0.1',
  '192.168.1.1',
  '8.8.8.8',
  '2001:db8::1',
  'fd12:3456::1',
  '::ffff:10.0.0.1',
  '64:ff9b::8.8.8.8',
  '192.0.0.191',
  'fd00:ec3::254',
  '2001:0:808:808:0:0:f7f7:f7f7',
  '2001:1::1',
];

describe('AllowedHosts', () => {
  it('allows any but forbidden addresses by default, in every notation', () => {
    const hosts = new AllowedHosts([]);
    for (const address of FORBIDDEN)
      expect(hosts.allows('metrics.example', address), address).to.equal(false);
    for (const address of PLAIN) expect(hosts.allows('metrics.example', address), address).to.equal(true);
  });

  it('never allows a name that resolves to a forbidden address, even one in the list', () => {
    const hosts = new AllowedHosts(['metrics.example', '*.example', '*']);
    for (const address of FORBIDDEN)
      expect(hosts.allows('metrics.example', address), address).to.equal(false);
  });

  it('allows a forbidden address that an address or a range lists', () => {
    const hosts = new AllowedHosts(['127.0.0.0/8', '169.254.169.254', '::1']);
    for (const address of ['127.0.0.1', '127.9.9.9', '169.254.169.254', '::1', '::ffff:127.0.0.1'])
      expect(hosts.allows('a.example', address), address).to.equal(true);
    expect(hosts.allows('a.example', '169.254.169.253')).to.equal(false);
  });

  it('allows a range only where all of its possible targets are allowed', () => {
    const hosts = new AllowedHosts(['10.0.0.0/8']);
    const allows = (address: string) => hosts.allows('a.example', address);
    expect(allows('64:ff9b:1:a9fe:a9:fe00:a00:1'), 'NAT64 behind 96 or 48 bits').to.equal(false);
    expect(allows('2001:0:a00:1::5601:5601'), 'Teredo, of another client').to.equal(false);
    for (const address of ['64:ff9b::10.0.0.1', '2002:a00:1::', '::ffff:10.0.0.1', '2001:0:a00:1::f5ff:fffe'])
      expect(allows(address), address).to.equal(true);
  });

  it('allows only listed hosts, where there is a list', () => {
    const hosts = new AllowedHosts(['Prometheus.Monitoring.svc', '*.metrics.example', '10.0.0.0/8']);
    expect(hosts.allows('prometheus.monitoring.svc.', '192.168.0.1')).to.equal(true);
    expect(hosts.allows('a.b.metrics.example', '192.168.0.1')).to.equal(true);
    expect(hosts.allows('metrics.example', '192.168.0.1')).to.equal(false);
    expect(hosts.allows('evilmetrics.example', '192.168.0.1')).to.equal(false);
    expect(hosts.allows('other.example', '10.1.2.3')).to.equal(true);
    expect(hosts.allows('other.example', '192.168.0.1')).to.equal(false);
  });

  it('reports the flag that would allow a host, and the rule that forbids it', () => {
    const forbidden =
      /^a\.example is not allowed: its address \([^()]+\) is refused unless --allowed-hosts lists it or its range$/;
    const other = 'a.example is not allowed: --allowed-hosts lists neither its name nor its address';
    for (const address of FORBIDDEN)
      expect(new AllowedHosts([]).refusal('a.example', [address]).message).to.match(forbidden);
    for (const [address, kind] of [
      [METADATA, 'link-local'],
      ['::1', 'loopback'],
      ['::ffff:127.0.0.1', 'loopback'],
      ['168.63.129.16', 'host agent and DNS of Azure'],
    ] as const)
      expect(new AllowedHosts([]).refusal(address, [address]).message).to.equal(
        `${address} is not allowed: the address (${kind}) is refused unless --allowed-hosts lists it or its range`,
      );
    const hosts = new AllowedHosts(['b.example']);
    expect(hosts.refusal('a.example', []).message).to.equal(other);
    expect(hosts.refusal('a.example', ['10.0.0.1']).message).to.equal(other);
    expect(hosts.refusal('a.example', ['10.0.0.1', '127.0.0.1']).message).to.equal(other);
  });

  it('does not mistake an address that is written oddly for a name', () => {
    for (const entry of [
      '127.1',
      '0x7f000001',
      '2130706433',
      '*.1',
      'a b',
      'a/8',
      '',
      '*.',
      'a..b',
      'http://a',
    ])
      expect(() => new AllowedHosts([entry]), entry).to.throw(`"${entry}" is not a host name`);
  });

  it('forbids embedded addresses wherever they are forbidden', () => {
    const hosts = new AllowedHosts([]);
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(hosts.allows('a', `::ffff:${address}`)).to.equal(hosts.allows('a', address));
        expect(hosts.allows('a', `64:ff9b::${address}`)).to.equal(hosts.allows('a', address));
      }),
    );
  });
});

describe('FORBIDDEN_RANGES', () => {
  it('are the table of docs/explanation/security.md', () => {
    const page = readFileSync('docs/explanation/security.md', 'utf8');
    const rows = FORBIDDEN_RANGES.map(({ range, kind, details, source }) => {
      const what = details === undefined ? kind : `${kind}; ${details}`;
      return `| \`${range}\` | ${what} | ${source} |`;
    });
    const [, table = ''] =
      /\| addresses \| what is there \| source \|\n\| --- \| --- \| --- \|\n((?:\|.*\n)+)/.exec(page) ?? [];
    expect(table.trim().split('\n')).to.deep.equal(rows);
  });
});

const METADATA = '169.254.169.254';
const IPV4 = { address: '10.0.0.1', family: 4 };
const IPV6 = { address: 'fd12:3456::1', family: 6 };

describe('createAllowedLookup', () => {
  const allowedHosts = new AllowedHosts([]);
  const lookUp = (options: dns.LookupOptions, findAddresses?: (host: string) => Promise<readonly string[]>) =>
    new Promise<unknown[]>((resolve) =>
      createAllowedLookup({ allowedHosts, findAddresses })('metrics.example', options, (...given) =>
        resolve(given),
      ),
    );
  const found = (addresses: readonly string[], options: dns.LookupOptions) =>
    lookUp(options, async (host) => (host === 'metrics.example' ? addresses : []));

  it('returns none of the forbidden addresses of a name, only the allowed ones', async () => {
    const mixed = [METADATA, IPV4.address, IPV6.address];
    expect(await found(mixed, { all: true })).to.deep.equal([null, [IPV4, IPV6]]);
    expect(await found(mixed, { all: false })).to.deep.equal([null, IPV4.address, 4]);
    expect(await found([IPV6.address, METADATA], {})).to.deep.equal([null, IPV6.address, 6]);
  });

  it('returns addresses of the requested family', async () => {
    const both = [IPV4.address, IPV6.address];
    for (const family of [6, 'IPv6'] as const)
      expect(await found(both, { all: true, family })).to.deep.equal([null, [IPV6]]);
    expect(await found(both, { family: 4 })).to.deep.equal([null, IPV4.address, 4]);
    const [error] = await found([IPV4.address], { family: 6 });
    expect(String(error)).to.equal('Error: metrics.example has no IPv6 address');
  });

  it('reports a name that resolves to nothing else, and the error of the lookup', async () => {
    for (const all of [true, false]) {
      const [refusal] = await found([METADATA], { all });
      expect(String(refusal)).to.match(
        /^Error: metrics\.example is not allowed: its address \(link-local\) is refused/,
      );
      const failure = new Error('no such host');
      const [error] = await lookUp({ all }, async () => {
        throw failure;
      });
      expect(error).to.equal(failure);
    }
  });

  it('dials no name where no resolver is configured', async () => {
    const [error] = await lookUp({ all: true });
    expect(String(error)).to.equal('Error: Cannot resolve metrics.example: no name resolver is configured');
  });
});
