import { expect } from 'chai';
import fc from 'fast-check';
import { lowerBound } from '#simulator/lower-bound.ts';

describe('lowerBound', () => {
  it('finds what a search from the start finds', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50)), fc.nat(50), (numbers, limit) => {
        const sorted = numbers.toSorted((left, right) => left - right);
        const found = sorted.findIndex((number) => number >= limit);
        expect(lowerBound(sorted, (number) => number >= limit)).to.equal(found < 0 ? sorted.length : found);
      }),
    );
  });
});
