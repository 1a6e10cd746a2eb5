import { performance } from 'node:perf_hooks';
import { expect } from 'chai';
import { pace } from './pace.ts';

describe('pace', () => {
  it('acts at the given rate, without waiting for actions in progress, for the given time', async () => {
    const startMs = performance.now();
    const { promise, resolve } = Promise.withResolvers<void>();
    const indexes: number[] = [];
    await pace({ everyMs: 5, forMs: 18 }, async (index) => {
      indexes.push(index);
      if (index === 3) resolve();
      await promise;
    });
    expect(indexes).to.deep.equal([0, 1, 2, 3]);
    expect(performance.now() - startMs).to.be.at.least(18);
  });

  it('stops at the first failure and throws it', async () => {
    let acted = 0;
    const failed = pace({ everyMs: 1, forMs: 10_000 }, async () => {
      acted += 1;
      throw new Error('no');
    });
    expect(await failed.catch((error: Error) => error.message)).to.equal('no');
    expect(acted).to.be.below(5); // another action may start before the failure is observed
  });
});
