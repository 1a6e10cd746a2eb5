import { expect } from 'chai';
import { PatientDeadline } from '#lib/resource-metrics/scrape/kubelet/patient-deadline.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

function setup() {
  const clock = new ManualClock();
  const parent = new AbortController();
  const expired = () => new Error('too late');
  const deadline = new PatientDeadline({ clock, durationMs: 1000, signal: parent.signal, expired });
  return { clock, deadline, parent };
}

describe('PatientDeadline', () => {
  it('aborts once its time is over', async () => {
    const { clock, deadline } = setup();
    await clock.advance(999);
    expect(deadline.signal.aborted).to.equal(false);
    await clock.advance(1);
    expect(String(deadline.signal.reason)).to.equal('Error: too late');
  });

  it('does not run while it is paused, and has what was left afterwards', async () => {
    const { clock, deadline } = setup();
    await clock.advance(400);
    const paused = deadline.pause();
    await clock.advance(60_000);
    expect(deadline.signal.aborted).to.equal(false);
    paused[Symbol.dispose]();
    await clock.advance(599);
    expect(deadline.signal.aborted).to.equal(false);
    await clock.advance(1);
    expect(deadline.signal.aborted).to.equal(true);
  });

  it('aborts with its parent, paused or not', () => {
    const { deadline, parent } = setup();
    deadline.pause();
    parent.abort(new Error('the cycle ended'));
    expect(String(deadline.signal.reason)).to.equal('Error: the cycle ended');
  });

  it('leaves no timer when it is disposed of before what paused it', () => {
    const { clock, deadline } = setup();
    const paused = deadline.pause();
    deadline[Symbol.dispose]();
    paused[Symbol.dispose]();
    expect(clock.sleeperCount).to.equal(0);
  });

  it('leaves no timer when it is disposed of', () => {
    const { clock, deadline } = setup();
    deadline[Symbol.dispose]();
    expect(clock.sleeperCount).to.equal(0);
  });
});
