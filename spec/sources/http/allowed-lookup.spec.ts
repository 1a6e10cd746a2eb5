import type dns from 'node:dns';
import { expect } from 'chai';
import { AllowedHosts } from '#lib/sources/http/allowed-hosts.ts';
import { allowedLookup } from '#lib/sources/http/allowed-lookup.ts';

const METADATA = '169.254.169.254';
const IPV4 = { address: '10.0.0.1', family: 4 };
const IPV6 = { address: 'fd12:3456::1', family: 6 };

describe('allowedLookup', () => {
  const allowedHosts = new AllowedHosts([]);
  const lookUp = (options: dns.LookupOptions, findAddresses?: (host: string) => Promise<readonly string[]>) =>
    new Promise<unknown[]>((resolve) =>
      allowedLookup({ allowedHosts, findAddresses })('metrics.example', options, (...given) =>
        resolve(given),
      ),
    );
  const found = (addresses: readonly string[], options: dns.LookupOptions) =>
    lookUp(options, async (host) => (host === 'metrics.example' ? addresses : []));

  it('gives none of the addresses of a name that must not be dialled, beside those that may be', async () => {
    const mixed = [METADATA, IPV4.address, IPV6.address];
    expect(await found(mixed, { all: true })).to.deep.equal([null, [IPV4, IPV6]]);
    expect(await found(mixed, { all: false })).to.deep.equal([null, IPV4.address, 4]);
    expect(await found([IPV6.address, METADATA], {})).to.deep.equal([null, IPV6.address, 6]);
  });

  it('gives the addresses of the family that its caller takes', async () => {
    const both = [IPV4.address, IPV6.address];
    for (const family of [6, 'IPv6'] as const)
      expect(await found(both, { all: true, family })).to.deep.equal([null, [IPV6]]);
    expect(await found(both, { family: 4 })).to.deep.equal([null, IPV4.address, 4]);
    const [error] = await found([IPV4.address], { family: 6 });
    expect(String(error)).to.equal('Error: metrics.example has no IPv6 address');
  });

  it('says that a name must not be asked that leads nowhere else, and what the lookup fails by', async () => {
    for (const all of [true, false]) {
      const [refusal] = await found([METADATA], { all });
      expect(String(refusal)).to.match(/^Error: metrics\.example must not be asked: it leads to a loopback/);
      const failure = new Error('no such host');
      const [error] = await lookUp({ all }, async () => {
        throw failure;
      });
      expect(error).to.equal(failure);
    }
  });

  it('dials no name where no resolver is configured', async () => {
    const [error] = await lookUp({ all: true });
    expect(String(error)).to.equal(
      'Error: metrics.example cannot be resolved: no name resolver is configured',
    );
  });
});
