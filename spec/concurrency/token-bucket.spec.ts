import { expect } from 'chai';
import fc from 'fast-check';
import { TokenBucket } from '#lib/concurrency/token-bucket.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('TokenBucket', () => {
  it('gives a burst at once, and then one token after the other', async () => {
    const clock = new ManualClock();
    const bucket = new TokenBucket({ clock, perSecond: 10, burst: 2 });
    const takenAtMs: number[] = [];
    for (let index = 0; index < 5; index++)
      void bucket.take().then(() => takenAtMs.push(clock.monotonicMs()));
    await clock.advance(1000);
    expect(takenAtMs).to.deep.equal([0, 0, 100, 200, 300]);
  });

  it('has a tenant wait for one token of each other tenant at most', async () => {
    const clock = new ManualClock();
    const bucket = new TokenBucket({ clock, perSecond: 10, burst: 1 });
    const taken: string[] = [];
    const take = (tenant: string) => void bucket.take(undefined, tenant).then(() => taken.push(tenant));
    for (let index = 0; index < 100; index++) take('many');
    await clock.advance(250);
    for (const tenant of ['one', 'two', 'one']) take(tenant);
    await clock.advance(600);
    expect(taken).to.deep.equal(['many', 'many', 'many', 'many', 'one', 'two', 'many', 'one', 'many']);
    expect(bucket.isFull).to.equal(false);
  });

  it('leaves the tokens of those that wait no longer to the others', async () => {
    const clock = new ManualClock();
    const bucket = new TokenBucket({ clock, perSecond: 10, burst: 1 });
    await bucket.take();
    const gone = new AbortController();
    const waiting = [1, 2, 3].map(() => bucket.take(gone.signal, 'gone').catch(() => 'aborted'));
    const takenAtMs = bucket.take(undefined, 'other').then(() => clock.monotonicMs());
    gone.abort(new Error('gone'));
    expect(await Promise.all(waiting)).to.deep.equal(['aborted', 'aborted', 'aborted']);
    await clock.advance(100);
    expect(await takenAtMs).to.equal(100);
    expect(clock.sleeperCount).to.equal(0);
    await clock.advance(100);
    expect(bucket.isFull).to.equal(true);
  });

  it('saves no more tokens than a burst takes', async () => {
    const clock = new ManualClock();
    const bucket = new TokenBucket({ clock, perSecond: 10, burst: 2 });
    await clock.advance(3_600_000);
    expect([bucket.tryTake(), bucket.tryTake(), bucket.tryTake()]).to.deep.equal([true, true, false]);
  });

  it('gives back the token of one that does not wait any more', async () => {
    const clock = new ManualClock();
    const bucket = new TokenBucket({ clock, perSecond: 1, burst: 1 });
    await bucket.take();
    const controller = new AbortController();
    const waiting = bucket.take(controller.signal).catch((error: Error) => error.message);
    controller.abort(new Error('enough'));
    expect(await waiting).to.equal('enough');
    expect(clock.sleeperCount).to.equal(0);
    expect(bucket.reserve()).to.equal(1000);
    expect(await bucket.take(controller.signal).catch((error: Error) => error.message)).to.equal('enough');
    expect(bucket.reserve()).to.equal(2000);
  });

  it('refuses numbers that limit nothing or everything', () => {
    const clock = new ManualClock();
    for (const [perSecond, burst] of [
      [0, 1],
      [-1, 1],
      [Number.NaN, 1],
      [1, 0],
    ] as const) {
      expect(() => new TokenBucket({ clock, perSecond, burst })).to.throw(RangeError, 'Cannot limit');
    }
  });

  it('never gives more than the burst and what came back since', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 10 }),
        fc.array(
          fc.record({ waitMs: fc.integer({ min: 0, max: 500 }), tries: fc.integer({ min: 0, max: 20 }) }),
          {
            maxLength: 8,
          },
        ),
        async (perSecond, burst, steps) => {
          const clock = new ManualClock();
          const bucket = new TokenBucket({ clock, perSecond, burst });
          let taken = 0;
          for (const { waitMs, tries } of steps) {
            await clock.jump(waitMs);
            for (let index = 0; index < tries; index++) if (bucket.tryTake()) taken++;
            expect(taken).to.be.at.most(burst + (clock.monotonicMs() * perSecond) / 1000 + 1e-6);
          }
        },
      ),
      { numRuns: 30 },
    );
  });
});
