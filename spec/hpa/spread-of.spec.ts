import { expect } from 'chai';
import { spreadOf } from '#lib/hpa/spread-of.ts';

describe('spreadOf', () => {
  it('is the same for a text for good', () => {
    expect(spreadOf('team-1')).to.equal(spreadOf('team-1'));
    expect(spreadOf('')).to.be.within(0, 1);
  });

  for (const prefix of ['team-', 'shop/web-', 'a']) {
    it(`spreads a hundred texts that begin with ${prefix} evenly`, () => {
      const tenths = Array.from({ length: 10 }, () => 0);
      for (let number = 1; number <= 100; number++) {
        const spread = spreadOf(`${prefix}${number}`);
        expect(spread).to.be.within(0, 1 - 2 ** -33);
        tenths[Math.floor(spread * 10)] = (tenths[Math.floor(spread * 10)] ?? 0) + 1;
      }
      for (const count of tenths) expect(count, tenths.join(' ')).to.be.within(2, 21);
    });
  }
});
