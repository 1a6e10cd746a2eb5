import { expect } from 'chai';
import { RequestDeadline } from '#lib/apiserver/http/request-lifetime.ts';
import { StatusError } from '#lib/apiserver/http/status-error.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('RequestDeadline', () => {
  it('aborts with a 504 after the timeout, counted from the first use of its signal', async () => {
    const clock = new ManualClock();
    using deadline = new RequestDeadline(clock, 1_000);
    await clock.advance(900);
    const { signal } = deadline;
    await clock.advance(999);
    expect(signal.aborted).to.equal(false);
    await clock.advance(1);
    expect(signal.reason).to.be.instanceOf(StatusError).with.property('code', 504);
  });

  it('is aborted once the request is over, whether or not its signal was used before', () => {
    const early = new RequestDeadline(new ManualClock(), 1_000);
    const { signal } = early;
    early[Symbol.dispose]();
    const late = new RequestDeadline(new ManualClock(), 1_000);
    late[Symbol.dispose]();
    expect([signal.aborted, late.signal.aborted]).to.deep.equal([true, true]);
  });

  it('leaves no timer behind when the request is over', () => {
    const clock = new ManualClock();
    const early = new RequestDeadline(clock, 1_000);
    expect(early.signal.aborted).to.equal(false);
    expect(clock.sleeperCount).to.equal(1);
    early[Symbol.dispose]();
    const late = new RequestDeadline(clock, 1_000);
    late[Symbol.dispose]();
    expect(late.signal.aborted).to.equal(true);
    expect(clock.sleeperCount).to.equal(0);
  });

  it('returns the result, unless the deadline passes first', async () => {
    const clock = new ManualClock();
    using deadline = new RequestDeadline(clock, 1_000);
    expect(await deadline.wait(Promise.resolve('response'))).to.equal('response');
    const outcome = deadline.wait(new Promise(() => {})).catch((error: unknown) => error);
    await clock.advance(1_000);
    expect(await outcome).to.have.property('code', 504);
  });
});
