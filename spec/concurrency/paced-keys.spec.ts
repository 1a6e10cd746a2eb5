import { expect } from 'chai';
import { PacedKeys } from '#lib/concurrency/paced-keys.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('PacedKeys', () => {
  const start = (pauseMs: (key: string) => number = () => 100) => {
    const clock = new ManualClock();
    const released: string[] = [];
    const keys = new PacedKeys({
      ...{ clock, pauseMs },
      release: (key) => void released.push(`${key} ${clock.monotonicMs()}`),
    });
    return { clock, keys, released };
  };

  it('releases a key at once, and what is added during its pause together when that ends', async () => {
    const { clock, keys, released } = start();
    keys.add('a');
    expect(released).to.deep.equal(['a 0']);
    for (let millisecond = 0; millisecond < 99; millisecond++) {
      keys.add('a');
      await clock.advance(1);
    }
    expect(released).to.deep.equal(['a 0']);
    await clock.advance(1);
    expect(released).to.deep.equal(['a 0', 'a 100']);
    await clock.advance(1000);
    expect(released).to.have.length(2);
    keys.add('a');
    expect(released).to.deep.equal(['a 0', 'a 100', 'a 1100']);
  });

  it('releases once where a key is added at the very end of its pause', async () => {
    const { clock, keys, released } = start();
    clock.startTimer(100, () => keys.add('a')); // runs before callbacks that are due at the same time
    keys.add('a');
    keys.add('a');
    await clock.advance(1000);
    expect(released).to.deep.equal(['a 0', 'a 100']);
  });

  it('has a pause for each key', async () => {
    const { clock, keys, released } = start((key) => (key === 'a' ? 10 : 1000));
    for (let time = 0; time < 20; time += 10) {
      keys.add('a');
      keys.add('b');
      await clock.advance(10);
    }
    expect(released).to.deep.equal(['a 0', 'b 0', 'a 10']);
  });

  it('drops pending keys, one or all', async () => {
    const { clock, keys, released } = start();
    for (const key of ['a', 'a', 'b', 'b']) keys.add(key);
    keys.delete('a');
    await clock.advance(50);
    keys.add('a');
    await clock.advance(50);
    expect(released).to.deep.equal(['a 0', 'b 0', 'a 50', 'b 100']);
    keys.add('b');
    keys[Symbol.dispose]();
    await clock.advance(1000);
    expect(released).to.have.length(4);
    expect(clock.sleeperCount).to.equal(0);
  });
});
