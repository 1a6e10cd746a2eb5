import { expect } from 'chai';
import { SnapshotPublisher } from '#lib/resource-metrics/scrape/snapshot-publisher.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

function setup(patienceMs = 1400) {
  const clock = new ManualClock();
  const publishedAtMs: number[] = [];
  const publish = () => publishedAtMs.push(clock.monotonicMs());
  return { clock, publishedAtMs, publisher: new SnapshotPublisher({ clock, patienceMs, publish }) };
}

describe('SnapshotPublisher', () => {
  it('publishes what has come in when its patience ends, without what is still to come', async () => {
    const { clock, publishedAtMs, publisher } = setup();
    publisher.markDirty();
    await clock.advance(1000);
    publisher.markDirty();
    expect(publishedAtMs).to.deep.equal([]);
    await clock.advance(400);
    expect(publishedAtMs).to.deep.equal([1400]);
  });

  it('publishes later responses together, at most four times a second', async () => {
    const { clock, publishedAtMs, publisher } = setup();
    await clock.advance(1400);
    for (let index = 0; index < 20; index++) {
      publisher.markDirty();
      await clock.advance(50);
    }
    expect(publishedAtMs).to.deep.equal([1650, 1900, 2150, 2400]);
  });

  it('publishes at once when told to, and not when there is nothing new', () => {
    const { publishedAtMs, publisher } = setup();
    publisher.flush();
    publisher.markDirty();
    publisher.flush();
    publisher.flush();
    expect(publishedAtMs).to.deep.equal([0]);
  });

  it('leaves no timer behind', () => {
    const { clock, publisher } = setup();
    publisher[Symbol.dispose]();
    expect(clock.sleeperCount).to.equal(0);
  });
});
