import { expect } from 'chai';
import fc from 'fast-check';
import { seededBetween, seededFraction, seededSuffix } from '#simulator/random.ts';

describe('seededFraction', () => {
  it('depends on the seed and every word, and on nothing else', () => {
    expect(seededFraction(1, 'a', 2)).to.equal(seededFraction(1, 'a', 2));
    expect(seededFraction(1, 'a', 2)).not.to.equal(seededFraction(2, 'a', 2));
    expect(seededFraction(1, 'ab', 'c')).not.to.equal(seededFraction(1, 'a', 'bc'));
  });

  it('spreads over the whole interval', () => {
    const tenths = new Array<number>(10).fill(0);
    for (let index = 0; index < 10_000; index++) {
      const tenth = Math.floor(seededFraction(1, 'node', index) * 10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    for (const count of tenths) expect(count).to.be.within(850, 1150);
  });
});

describe('seededBetween', () => {
  it('stays within its bounds', () => {
    fc.assert(
      fc.property(fc.integer(), fc.nat(1000), fc.nat(1000), fc.string(), (seed, from, span, word) => {
        const value = seededBetween({ from, to: from + span }, seed, word);
        expect(value).to.be.within(from, from + span);
      }),
    );
  });
});

describe('seededSuffix', () => {
  it("has the form of a ReplicaSet's suffix", () => {
    expect(seededSuffix(5, 1, 'x')).to.match(/^[bcdfghjklmnpqrstvwxz2-9]{5}$/);
  });
});
