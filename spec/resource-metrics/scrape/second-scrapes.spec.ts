import { expect } from 'chai';
import { SecondScrapes } from '#lib/resource-metrics/scrape/second-scrapes.ts';

const NEVER_TOO_SOON = Number.NEGATIVE_INFINITY;

describe('SecondScrapes', () => {
  it('holds back a node that has responded once, and no other', () => {
    const seconds = new SecondScrapes(12_000);
    expect(seconds.dueMs('a')).to.equal(NEVER_TOO_SOON);
    seconds.noteResponse('a', 500);
    expect(seconds.dueMs('a')).to.equal(12_500);
    expect(seconds.dueMs('b')).to.equal(NEVER_TOO_SOON);
    for (const receivedAtMs of [12_600, 30_000]) {
      seconds.noteResponse('a', receivedAtMs);
      expect(seconds.dueMs('a')).to.equal(NEVER_TOO_SOON);
    }
  });

  it('takes a node that was gone for a new one', () => {
    const seconds = new SecondScrapes(12_000);
    for (const receivedAtMs of [0, 12_000]) seconds.noteResponse('a', receivedAtMs);
    seconds.retain((nodeName) => nodeName !== 'a');
    seconds.noteResponse('a', 60_000);
    expect(seconds.dueMs('a')).to.equal(72_000);
    seconds.retain((nodeName) => nodeName === 'a');
    expect(seconds.dueMs('a')).to.equal(72_000);
  });
});
