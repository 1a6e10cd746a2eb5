import { expect } from 'chai';
import { SnapshotPublisher } from '#lib/resource-metrics/scrape/snapshot-publisher.ts';
import type { Clock } from '#lib/time/clock.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

function setup(maxWaitMs = 1400) {
  const clock = new ManualClock();
  const publishedAtMs: number[] = [];
  const publish = () => publishedAtMs.push(clock.monotonicMs());
  return { clock, publishedAtMs, publisher: new SnapshotPublisher({ clock, maxWaitMs, publish }) };
}

describe('SnapshotPublisher', () => {
  it('publishes received responses after its maximum wait', async () => {
    const { clock, publishedAtMs, publisher } = setup();
    publisher.markDirty();
    await clock.advance(1000);
    publisher.markDirty();
    expect(publishedAtMs).to.deep.equal([]);
    await clock.advance(400);
    expect(publishedAtMs).to.deep.equal([1400]);
  });

  it('publishes later responses at most four times per second', async () => {
    const { clock, publishedAtMs, publisher } = setup();
    await clock.advance(1400);
    for (let index = 0; index < 20; index++) {
      publisher.markDirty();
      await clock.advance(50);
    }
    expect(publishedAtMs).to.deep.equal([1650, 1900, 2150, 2400]);
  });

  it('publishes less often if publishing takes long', async () => {
    const manual = new ManualClock();
    const publishedAtMs: number[] = [];
    let workedMs = 0;
    const clock: Clock = {
      nowMs: () => manual.nowMs(),
      monotonicMs: () => manual.monotonicMs() + workedMs,
      sleep: (durationMs, options) => manual.sleep(durationMs, options),
      startTimer: (durationMs, callback) => manual.startTimer(durationMs, callback),
    };
    const publish = () => {
      publishedAtMs.push(manual.monotonicMs());
      workedMs += 100;
    };
    const publisher = new SnapshotPublisher({ clock, publish, maxWaitMs: 1000 });
    for (let index = 0; index < 60; index++) {
      publisher.markDirty();
      await manual.advance(100);
    }
    expect(publishedAtMs).to.deep.equal([1000, 3000, 5000]);
  });

  it('flushes at once if there are new responses', () => {
    const { publishedAtMs, publisher } = setup();
    publisher.flush();
    publisher.markDirty();
    publisher.flush();
    publisher.flush();
    expect(publishedAtMs).to.deep.equal([0]);
  });

  it('leaves no timer', () => {
    const { clock, publisher } = setup();
    publisher[Symbol.dispose]();
    expect(clock.sleeperCount).to.equal(0);
  });
});
