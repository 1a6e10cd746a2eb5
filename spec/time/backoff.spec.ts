import { expect } from 'chai';
import { Backoff, RetryDelays } from '#lib/time/backoff.ts';

describe('Backoff', () => {
  const delays = (backoff: Backoff, count: number) => Array.from({ length: count }, () => backoff.next());

  it('doubles up to the maximum, with delays in the upper half of each range', () => {
    const range = { initialMs: 100, maxMs: 800 };
    expect(delays(new Backoff({ ...range, random: () => 0 }), 5)).to.deep.equal([50, 100, 200, 400, 400]);
    expect(delays(new Backoff({ ...range, random: () => 0.5 }), 5)).to.deep.equal([75, 150, 300, 600, 600]);
  });

  it('starts again at the initial delay after a reset', () => {
    const backoff = new Backoff({ initialMs: 100, maxMs: 800, random: () => 0 });
    delays(backoff, 3);
    backoff.reset();
    expect(backoff.next()).to.equal(50);
  });
});

describe('RetryDelays', () => {
  it('doubles the delay of a key up to the maximum, until it succeeds', () => {
    const delays = new RetryDelays({ firstMs: 1000, maxMs: 5000 });
    expect(delays.delayMs('a')).to.equal(undefined);
    expect([1, 2, 3, 4, 5].map(() => delays.failed('a'))).to.deep.equal([1000, 2000, 4000, 5000, 5000]);
    expect(delays.failed('b')).to.equal(1000);
    expect([delays.delayMs('a'), delays.delayMs('b')]).to.deep.equal([5000, 1000]);
    delays.succeeded('a');
    expect([delays.delayMs('a'), delays.delayMs('b')]).to.deep.equal([undefined, 1000]);
    expect(delays.failed('a')).to.equal(1000);
  });
});
