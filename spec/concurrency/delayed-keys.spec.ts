import { expect } from 'chai';
import fc from 'fast-check';
import { DelayedKeys } from '#lib/concurrency/delayed-keys.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

function delayedKeys() {
  const clock = new ManualClock();
  const released: { key: string; atMs: number }[] = [];
  const keys = new DelayedKeys({
    clock,
    release: (key) => void released.push({ key, atMs: clock.monotonicMs() }),
  });
  return { clock, keys, released };
}

describe('DelayedKeys', () => {
  it('releases each key when its time has come, by one timer for all', async () => {
    const { clock, keys, released } = delayedKeys();
    keys.add('late', 300);
    keys.add('early', 100);
    keys.add('between', 200);
    expect([keys.size, clock.sleeperCount]).to.deep.equal([3, 1]);
    await clock.advance(250);
    expect(released).to.deep.equal([
      { key: 'early', atMs: 100 },
      { key: 'between', atMs: 200 },
    ]);
    await clock.advance(50);
    expect(released.at(-1)).to.deep.equal({ key: 'late', atMs: 300 });
    expect([keys.size, clock.sleeperCount]).to.deep.equal([0, 0]);
  });

  it('releases nothing that was cleared, and keeps no timer for it', async () => {
    const { clock, keys, released } = delayedKeys();
    keys.add('a', 100);
    keys.clear();
    expect([keys.size, clock.sleeperCount]).to.deep.equal([0, 0]);
    keys.add('a', 200);
    await clock.advance(1000);
    expect(released).to.deep.equal([{ key: 'a', atMs: 200 }]);
  });

  it('takes keys back that are added while they are released', async () => {
    const clock = new ManualClock();
    const atMs: number[] = [];
    const keys = new DelayedKeys({
      clock,
      release: (key) => {
        atMs.push(clock.monotonicMs());
        if (atMs.length < 3) keys.add(key, 100);
      },
    });
    keys.add('a', 100);
    await clock.advance(1000);
    expect(atMs).to.deep.equal([100, 200, 300]);
  });

  it('releases what a process that stood still has slept through, the earliest first', async () => {
    const { clock, keys, released } = delayedKeys();
    for (const [index, key] of ['c', 'a', 'b'].entries()) keys.add(key, [300, 100, 200][index] ?? 0);
    await clock.jump(1000);
    expect(released.map(({ key }) => key)).to.deep.equal(['a', 'b', 'c']);
  });

  it('behaves like one timer per key, of which the earliest applies', async () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      delayMs: fc.double({ min: 0.001, max: 50, noNaN: true }),
      thenMs: fc.double({ min: 0, max: 20, noNaN: true }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { clock, keys, released } = delayedKeys();
        const waiting = new Map<string, number>();
        for (const { key, delayMs, thenMs } of steps) {
          keys.add(key, delayMs);
          const atMs = clock.monotonicMs() + delayMs;
          waiting.set(key, Math.min(atMs, waiting.get(key) ?? atMs));
          await clock.advance(thenMs);
          const due = [...waiting].filter(([, readyAtMs]) => readyAtMs <= clock.monotonicMs());
          const now = released.splice(0).map((one) => one.key);
          expect(now.toSorted()).to.deep.equal(due.map(([one]) => one).toSorted());
          const times = now.map((one) => waiting.get(one) ?? Number.NaN); // the order of equal times is undefined
          expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
          for (const one of now) waiting.delete(one);
        }
        expect(keys.size).to.equal(waiting.size);
      }),
      { numRuns: 50 },
    );
  });

  it('releases each of very many keys once, however often it was added', async () => {
    const { clock, keys, released } = delayedKeys();
    for (let round = 100; round > 0; round--)
      for (let key = 0; key < 100; key++) keys.add(`${key}`, round * 1000 + key);
    expect(keys.size).to.equal(100);
    await clock.advance(1_000_000);
    expect(released.map(({ key }) => Number(key))).to.deep.equal(
      Array.from({ length: 100 }, (_, key) => key),
    );
    expect(clock.sleeperCount).to.equal(0);
  });
});
