import { expect } from 'chai';
import { StatusWrites, type WrittenObject } from '#lib/scaled-objects/other-operator/status-writes.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('StatusWrites', () => {
  it('notices who has written a status, for three of its polls and 90 seconds at least', async () => {
    for (const [pollingInterval, lastsMs] of [
      [undefined, 90_000],
      [1, 90_000],
      [60, 180_000],
      [3600, 900_000],
    ] as const) {
      const clock = new ManualClock();
      const writes = new StatusWrites(clock);
      const before = object({ ours: 0 }, { pollingInterval });
      writes.observe('ScaledObject', undefined, before);
      expect(writes.lately).to.equal(undefined);
      writes.observe('ScaledObject', before, object({ ours: 0, keda: 0 }, { pollingInterval }));
      expect(writes.lately).to.deep.include({ manager: 'keda', object: 'ScaledObject default/web' });
      await clock.advance(lastsMs - 1);
      expect(writes.lately).to.deep.include({ manager: 'keda' });
      await clock.advance(1);
      expect(writes.lately).to.equal(undefined);
    }
  });

  it('counts at the first look what was written last, from when it was written', async () => {
    const clock = new ManualClock();
    const writes = new StatusWrites(clock);
    writes.observe('ScaledObject', undefined, object({ keda: -80, ours: -70 }));
    expect(writes.lately).to.equal(undefined);
    writes.observe('ScaledJob', undefined, object({ keda: -80, ours: -90 }));
    expect(writes.lately).to.deep.include({ manager: 'keda', object: 'ScaledJob default/web' });
    await clock.advance(10_000);
    expect(writes.lately).to.equal(undefined);
  });

  it('is not misled by clocks, or by what other managers wrote long ago', async () => {
    const clock = new ManualClock();
    const writes = new StatusWrites(clock);
    const before = object({ keda: -1000, ours: -500 });
    writes.observe('ScaledObject', undefined, before);
    writes.observe('ScaledObject', before, object({ keda: -1000, ours: -400 }));
    expect(writes.lately).to.equal(undefined);
    writes.observe('ScaledObject', undefined, object({ keda: 5000 })); // a clock that is ahead
    expect(writes.lately).to.deep.include({ manager: 'keda' });
    await clock.advance(90_000);
    expect(writes.lately).to.equal(undefined);
  });

  it('goes by the latest that lasts, and forgets when told to', () => {
    const writes = new StatusWrites(new ManualClock());
    writes.observe('ScaledObject', undefined, object({ keda: 0 }, { pollingInterval: 100 }));
    writes.observe('ScaledObject', undefined, object({ other: -10 }));
    expect(writes.lately).to.deep.include({ manager: 'keda' });
    writes.forget();
    expect(writes.lately).to.equal(undefined);
  });
});

/** @param seconds when each manager wrote the status, from the clock's beginning on; `ours` is this controller */
function object(seconds: Readonly<Record<string, number>>, spec: object = {}): WrittenObject {
  const managedFields = Object.entries(seconds).map(([name, second]) => ({
    manager: name === 'ours' ? 'autoscaler-scaledobject' : name,
    operation: 'Update',
    time: new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString(),
    subresource: 'status',
  }));
  const metadata = { name: 'web', namespace: 'default', managedFields };
  return { metadata, spec };
}
