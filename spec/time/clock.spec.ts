import { expect } from 'chai';
import { systemClock } from '#lib/time/clock.ts';

describe('systemClock', () => {
  it('returns the time since the epoch and a monotonic time', () => {
    expect(Math.abs(systemClock.nowMs() - Date.now())).to.be.below(1000);
    const earlier = systemClock.monotonicMs();
    expect(systemClock.monotonicMs()).to.be.at.least(earlier);
  });

  it('rejects a sleep at once when the signal aborts', async () => {
    const aborting = new AbortController();
    const asleep = systemClock
      .sleep(60_000, { signal: aborting.signal })
      .catch((error: Error) => error.message);
    aborting.abort(new Error('enough'));
    expect(await asleep).to.equal('enough');
    const again = systemClock
      .sleep(60_000, { signal: aborting.signal })
      .catch((error: Error) => error.message);
    expect(await again).to.equal('enough');
  });

  it('sleeps longer than the longest timer of Node', async () => {
    const aborting = new AbortController();
    let hasWoken = false;
    const asleep = systemClock.sleep(2 ** 40, { signal: aborting.signal }).then(
      () => {
        hasWoken = true;
      },
      () => {},
    );
    await systemClock.sleep(5); // an overflowing timer fires after 1 ms
    aborting.abort();
    await asleep;
    expect(hasWoken).to.equal(false);
  });

  it('wakes up after the duration', async () => {
    const startedAtMs = performance.now();
    await systemClock.sleep(5);
    expect(performance.now() - startedAtMs).to.be.at.least(4);
  });
});
