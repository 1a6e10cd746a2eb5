import { expect } from 'chai';
import { FairShare } from '#lib/concurrency/fair-share.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const { signal } = new AbortController();

describe('FairShare', () => {
  it('lets one go on at a time, each in an iteration of the event loop of its own', async () => {
    const share = new FairShare(new ManualClock());
    const iterations = Array.from({ length: 3 }, async () => {
      await share.next(signal);
      return performance.nodeTiming.uvMetricsInfo.loopCount;
    });
    expect(new Set(await Promise.all(iterations))).to.have.property('size', 3);
  });

  it('leaves the event loop to others for as long as one has held it', async () => {
    const clock = new TakenTime();
    const share = new FairShare(clock);
    const done: string[] = [];
    const long = share.next(signal).then(() => {
      done.push('long');
      clock.takenMs = 80; // as if reading it had taken so long
    });
    const next = share.next(signal).then(() => done.push('next'));
    await long;
    for (let iteration = 0; iteration < 10; iteration++) await new Promise(setImmediate);
    expect(done).to.deep.equal(['long']);
    await clock.advance(79);
    for (let iteration = 0; iteration < 10; iteration++) await new Promise(setImmediate);
    expect(done).to.deep.equal(['long']);
    await clock.advance(1);
    await next;
    expect(done).to.deep.equal(['long', 'next']);
  });

  it('tells who has left meanwhile why, and goes on', async () => {
    const share = new FairShare(new ManualClock());
    const leaving = new AbortController();
    const left = share.next(leaving.signal).catch((error: Error) => error.message);
    const next = share.next(signal);
    leaving.abort(new Error('nobody waits'));
    expect(await left).to.equal('nobody waits');
    await next;
  });
});

/** A clock whose monotonic time also passes while somebody holds the event loop. */
class TakenTime extends ManualClock {
  takenMs = 0;

  override monotonicMs(): number {
    return super.monotonicMs() + this.takenMs;
  }
}
