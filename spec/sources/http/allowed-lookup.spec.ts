import type dns from 'node:dns';
import { expect } from 'chai';
import { AllowedHosts } from '#lib/sources/http/allowed-hosts.ts';
import { allowedLookup } from '#lib/sources/http/allowed-lookup.ts';

const METADATA = { address: '169.254.169.254', family: 4 };
const FIRST = { address: '10.0.0.1', family: 4 };
const SECOND = { address: 'fd12:3456::1', family: 6 };

describe('allowedLookup', () => {
  const found = async (addresses: readonly object[], options: dns.LookupOptions, failure?: Error) => {
    const asked: unknown[] = [];
    const lookup = ((...[host, given, callback]: [string, object, (...result: unknown[]) => void]) => {
      asked.push([host, given]);
      callback(failure ?? null, addresses);
    }) as unknown as typeof dns.lookup;
    const result = await new Promise<unknown[]>((resolve) =>
      allowedLookup(new AllowedHosts([]), lookup)('metrics.example', options, (...given) => resolve(given)),
    );
    return { asked, result };
  };

  it('gives none of the addresses of a name that must not be dialled, beside those that may be', async () => {
    const mixed = [METADATA, FIRST, SECOND];
    expect((await found(mixed, { all: true })).result).to.deep.equal([null, [FIRST, SECOND]]);
    expect((await found(mixed, { all: false })).result).to.deep.equal([null, FIRST.address, 4]);
    expect((await found([SECOND, METADATA], {})).result).to.deep.equal([null, SECOND.address, 6]);
  });

  it('looks all addresses up, as its user wants them', async () => {
    const { asked } = await found([FIRST], { family: 4, hints: 1 });
    expect(asked).to.deep.equal([['metrics.example', { family: 4, hints: 1, all: true }]]);
  });

  it('says that a name must not be asked that leads nowhere else, and what the lookup fails by', async () => {
    for (const all of [true, false]) {
      const { result } = await found([METADATA], { all });
      expect(String(result[0])).to.match(
        /^Error: metrics\.example must not be asked: it leads to a loopback/,
      );
      const failure = new Error('ENOTFOUND');
      expect((await found([FIRST], { all }, failure)).result[0]).to.equal(failure);
    }
  });
});
