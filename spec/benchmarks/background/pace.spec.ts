import { performance } from 'node:perf_hooks';
import { expect } from 'chai';
import { pace } from './pace.ts';

describe('pace', () => {
  it('acts as often as fits, without waiting for what is under way, and lasts as long as it is told', async () => {
    const startMs = performance.now();
    const { promise, resolve } = Promise.withResolvers<void>();
    const turns: number[] = [];
    await pace({ everyMs: 5, forMs: 18 }, async (turn) => {
      turns.push(turn);
      if (turn === 3) resolve();
      await promise;
    });
    expect(turns).to.deep.equal([0, 1, 2, 3]);
    expect(performance.now() - startMs).to.be.at.least(17);
  });

  it('stops at the first failure and tells it', async () => {
    let acted = 0;
    const failed = pace({ everyMs: 1, forMs: 10_000 }, async () => {
      acted += 1;
      throw new Error('no');
    });
    expect(await failed.catch((error: Error) => error.message)).to.equal('no');
    expect(acted).to.be.below(5); // it may have begun another before it heard of the failure
  });
});
