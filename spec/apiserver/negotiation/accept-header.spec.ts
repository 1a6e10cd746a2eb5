import { expect } from 'chai';
import { parseAccept } from '#lib/apiserver/negotiation/accept-header.ts';

describe('parseAccept', () => {
  const orders: readonly [string, string, readonly string[]][] = [
    ['by quality', 'a/b;q=0.1,c/d;q=0.5,e/f', ['e/f', 'c/d', 'a/b']],
    ['as they come where qualities are equal', 'a/b,c/d,e/f;q=1', ['a/b', 'c/d', 'e/f']],
    ['a type before a wildcard, whatever their qualities', '*/*,a/b;q=0.1', ['a/b', '*/*']],
    ['a subtype before a wildcard', 'a/*,a/b', ['a/b', 'a/*']],
    ['a quality that is no number last', 'a/b;q=x,c/d;q=0.1', ['c/d', 'a/b']],
    ['not without a subtype', 'a,b/,/c,*', ['/c', '*/*']],
    ['not with two slashes', 'a/b/c,d/e', ['d/e']],
    ['trimmed', ' a/b ; q=0.5 ,\tc/d', ['c/d', 'a/b']],
    ['none of nothing', '', []],
  ];
  for (const [what, header, order] of orders) {
    it(`orders clauses ${what}: ${header}`, () => {
      expect(parseAccept(header).map(({ type, subtype }) => `${type}/${subtype}`)).to.deep.equal(order);
    });
  }

  it('has the parameters of a clause, but for its quality and what makes no sense', () => {
    const [clause] = parseAccept('a/b;q=0.5; as=Table ;v=v1;x;y=;z=1=2');
    expect([...(clause?.parameters ?? [])]).to.deep.equal([
      ['as', 'Table'],
      ['v', 'v1'],
    ]);
  });
});
