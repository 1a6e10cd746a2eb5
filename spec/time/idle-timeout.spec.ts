import { expect } from 'chai';
import { startIdleTimeout } from '#lib/time/deadline.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const expired = () => new Error('nothing heard');

describe('startIdleTimeout', () => {
  it('aborts after a time without activity', async () => {
    const clock = new ManualClock();
    using idle = startIdleTimeout(clock, 1000, { expired });
    for (let beat = 0; beat < 5; beat++) {
      await clock.advance(999);
      idle.restart();
    }
    await clock.advance(999);
    expect(idle.signal.aborted).to.equal(false);
    await clock.advance(1);
    expect(idle.signal.reason).to.have.property('message', 'nothing heard');
    expect(idle.hasExpired).to.equal(true);
  });

  it('aborts with its parent, without expiring', () => {
    const parent = new AbortController();
    using idle = startIdleTimeout(new ManualClock(), 1000, { signal: parent.signal, expired });
    parent.abort(new Error('over'));
    expect(idle.signal.reason).to.have.property('message', 'over');
    expect(idle.hasExpired).to.equal(false);
  });

  it('leaves no timer', () => {
    const clock = new ManualClock();
    startIdleTimeout(clock, 1000, { expired })[Symbol.dispose]();
    expect(clock.sleeperCount).to.equal(0);
  });
});
