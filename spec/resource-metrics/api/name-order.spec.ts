import { expect } from 'chai';
import fc from 'fast-check';
import { NameOrder } from '#lib/resource-metrics/api/name-order.ts';

const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'B', 'é', '\u{1f600}', 'web-10', 'web-2'));

describe('NameOrder', () => {
  it('sorts by name, whatever was sorted before', () => {
    fc.assert(
      fc.property(fc.array(names), (times) => {
        const order = new NameOrder();
        for (const each of times) {
          const named = new Map(each.map((name) => [name, { name }]));
          expect(order.sort(named)).to.deep.equal(each.toSorted().map((name) => named.get(name)));
        }
      }),
    );
  });
});
