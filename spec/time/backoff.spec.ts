import { expect } from 'chai';
import { Backoff } from '#lib/time/backoff.ts';

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
