import { expect } from 'chai';
import { listenForSilence } from '#lib/time/silence.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const expired = () => new Error('nothing heard');

describe('listenForSilence', () => {
  it('aborts after the longest silence, counted from what was heard last', async () => {
    const clock = new ManualClock();
    using silence = listenForSilence(clock, 1000, { expired });
    for (let beat = 0; beat < 5; beat++) {
      await clock.advance(999);
      silence.interrupt();
    }
    await clock.advance(999);
    expect(silence.signal.aborted).to.equal(false);
    await clock.advance(1);
    expect(silence.signal.reason).to.have.property('message', 'nothing heard');
    expect(silence.isTooLong).to.equal(true);
  });

  it('aborts with its parent, which is no silence', () => {
    const parent = new AbortController();
    using silence = listenForSilence(new ManualClock(), 1000, { signal: parent.signal, expired });
    parent.abort(new Error('over'));
    expect(silence.signal.reason).to.have.property('message', 'over');
    expect(silence.isTooLong).to.equal(false);
  });

  it('leaves no timer behind', () => {
    const clock = new ManualClock();
    listenForSilence(clock, 1000, { expired })[Symbol.dispose]();
    expect(clock.sleeperCount).to.equal(0);
  });
});
