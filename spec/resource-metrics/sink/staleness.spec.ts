import { expect } from 'chai';
import { isStale, servedUntilMs } from '#lib/resource-metrics/sink/staleness.ts';

const LIMITS = { resolutionMs: 60_000, stalenessMs: 70_000 };
const DROPPED = Number.NEGATIVE_INFINITY;

describe('isStale', () => {
  it('is so once a scrape was lost', () => {
    expect(isStale({ respondedInCycleMs: 0, lostInCycleMs: undefined })).to.equal(false);
    expect(isStale({ respondedInCycleMs: 0, lostInCycleMs: 0 })).to.equal(true);
  });
});

describe('servedUntilMs', () => {
  const until = (lostInCycleMs: number | undefined, limits: Partial<typeof LIMITS> = {}) =>
    servedUntilMs({ respondedInCycleMs: 12_000, lostInCycleMs }, { ...LIMITS, ...limits });

  it('is two and a half resolutions from the last that was heard of the node', () => {
    expect(until(undefined)).to.equal(162_000);
    expect(until(72_000)).to.equal(222_000);
  });

  it('is over with the loss by which the response is too old', () => {
    expect(until(132_000)).to.equal(DROPPED);
    expect(until(12_000, { stalenessMs: 0 })).to.equal(DROPPED);
    expect(until(undefined, { stalenessMs: 0 })).to.equal(162_000);
  });

  it('takes multiples of the resolution as they are meant, though cycles begin some milliseconds early or late', () => {
    for (const driftMs of [-9, 0, 9]) {
      expect(until(72_000 + driftMs, { stalenessMs: 120_000 })).to.be.above(0);
      expect(until(132_000 + driftMs, { stalenessMs: 120_000 })).to.equal(DROPPED);
      expect(until(72_000 + driftMs, { stalenessMs: 60_001 })).to.be.above(0);
    }
  });
});
