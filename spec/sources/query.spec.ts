import { expect } from 'chai';
import { extendTimeout, type Query, shorten } from '#lib/sources/query.ts';

const QUERY: Query = { key: 'a', description: 'a', run: async () => [] };

describe('extendTimeout', () => {
  it('does not warn of a query whose request is fast enough', () => {
    for (const timeoutMs of [1, 3_000, 14_000]) expect(extendTimeout(QUERY, timeoutMs)).to.equal(QUERY);
  });

  it('has a query wait for a request that may take longer', () => {
    expect(extendTimeout(QUERY, 14_001)).to.deep.equal({ ...QUERY, timeoutMs: 15_001 });
    expect(extendTimeout(QUERY, 60_000)).to.deep.equal({ ...QUERY, timeoutMs: 61_000 });
  });
});

describe('shorten', () => {
  it('shows a query on one line, of up to 200 characters', () => {
    expect(shorten('from(b)\r\n\t|> last()')).to.equal('from(b)   |> last()');
    expect(shorten('a'.repeat(200))).to.equal('a'.repeat(200));
    expect(shorten('a'.repeat(201))).to.equal(`${'a'.repeat(200)}…`);
  });
});
