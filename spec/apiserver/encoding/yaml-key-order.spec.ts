import { expect } from 'chai';
import fc from 'fast-check';
import { compareYamlKeys } from '#lib/apiserver/encoding/yaml-key-order.ts';

describe('compareYamlKeys', () => {
  const sortedLists: readonly (readonly string[])[] = [
    ['apiVersion', 'items', 'kind', 'metadata'],
    ['a', 'b', 'ba'],
    ['a1', 'a2', 'a10', 'a010b'],
    ['app', 'app.kubernetes.io/name', 'app2', 'apple'],
    ['-', '1', '2a', '02', '10', 'a'],
    ['b8-1', 'b8-10', 'b80'],
  ];
  for (const sorted of sortedLists) {
    it(`sorts ${sorted.join(' < ')}`, () => {
      expect(sorted.toReversed().sort(compareYamlKeys)).to.deep.equal(sorted);
    });
  }

  it('tells of any two different keys which is first, and of no key that it is before itself', () => {
    const keys = fc.string({ unit: fc.constantFrom('a', 'b', '0', '1', '9', '-', '.', '/') });
    fc.assert(
      fc.property(keys, keys, (a, b) => {
        expect(Math.sign(compareYamlKeys(a, b))).to.equal(0 - Math.sign(compareYamlKeys(b, a)));
        expect(compareYamlKeys(a, b) === 0).to.equal(a === b);
      }),
    );
  });
});
