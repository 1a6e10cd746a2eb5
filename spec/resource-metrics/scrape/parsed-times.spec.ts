import { expect } from 'chai';
import { ParsedTimes } from '#lib/resource-metrics/scrape/parsed-times.ts';

describe('ParsedTimes', () => {
  it('reads a time, however often and after however many others', () => {
    const times = new ParsedTimes();
    for (let second = 0; second < 25_000; second++) {
      const time = second * 1000 + 1;
      expect(times.read(new Date(time).toISOString())).to.equal(time);
    }
    expect(times.read('2026-11-21T10:12:34.5+01:00')).to.equal(Date.UTC(2026, 10, 21, 9, 12, 34, 500));
  });

  it('has none of what is no time, twice over, and of the year 1', () => {
    const times = new ParsedTimes();
    for (const text of ['', 'x', 'x', '0001-01-01T00:00:00Z']) expect(times.read(text)).to.equal(undefined);
  });
});
