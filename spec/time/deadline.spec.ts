import { expect } from 'chai';
import { startDeadline } from '#lib/time/deadline.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const expired = () => new Error('too late');

describe('startDeadline', () => {
  it('aborts with the given reason when the time is over', async () => {
    const clock = new ManualClock();
    const deadline = startDeadline(clock, 3000, { expired });
    await clock.advance(2999);
    expect(deadline.signal.aborted).to.equal(false);
    await clock.advance(1);
    expect(deadline.signal.reason).to.have.property('message', 'too late');
  });

  it("aborts with its parent, for the parent's reason", () => {
    const parent = new AbortController();
    const { signal } = startDeadline(new ManualClock(), 3000, { signal: parent.signal, expired });
    parent.abort(new Error('the cycle ended'));
    expect(signal.reason).to.have.property('message', 'the cycle ended');
  });

  it('never aborts after disposal, and leaves no timer', async () => {
    const clock = new ManualClock();
    const parent = new AbortController();
    const deadline = startDeadline(clock, 3000, { signal: parent.signal, expired });
    deadline[Symbol.dispose]();
    await clock.advance(10_000);
    parent.abort();
    expect(deadline.signal.aborted).to.equal(false);
    expect(clock.sleeperCount).to.equal(0);
  });
});
