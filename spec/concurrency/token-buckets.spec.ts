import { expect } from 'chai';
import { TokenBuckets } from '#lib/concurrency/token-buckets.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('TokenBuckets', () => {
  it('limits each name by itself', () => {
    const buckets = new TokenBuckets({ clock: new ManualClock(), perSecond: 1, burst: 2 });
    const taken = ['a', 'a', 'a', 'b'].map((name) => buckets.get(name).tryTake());
    expect(taken).to.deep.equal([true, true, false, true]);
  });

  it('drops those that are full, and no others', async () => {
    const clock = new ManualClock();
    const buckets = new TokenBuckets({ clock, perSecond: 1, burst: 2 });
    for (let index = 0; index < 1000; index++) buckets.get(`n${index}`).tryTake();
    expect(buckets.size).to.equal(1000);
    await clock.advance(1000);
    for (let index = 0; index < 3; index++) buckets.get('empty').tryTake();
    for (let index = 0; index < 10_000; index++) {
      buckets.get(`more${index}`).tryTake();
      if (index % 10 === 0) await clock.advance(1000);
      buckets.get('empty').tryTake();
    }
    expect(buckets.size).to.be.at.most(130);
    expect(buckets.get('empty').tryTake()).to.equal(false);
  });
});
