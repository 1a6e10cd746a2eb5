import { expect } from 'chai';
import fc from 'fast-check';
import { readUtcTime } from '#lib/resource-metrics/scrape/utc-time.ts';

const read = (text: string) => readUtcTime(Buffer.from(text), 0, text.length);

describe('readUtcTime', () => {
  it('reads each whole second of the years 0 to 9999 as the platform does', () => {
    const [first, last] = [Date.parse('0000-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59Z')];
    fc.assert(
      fc.property(fc.integer({ min: first / 1000, max: last / 1000 }), (second) => {
        const text = new Date(second * 1000).toISOString().replace('.000', '');
        expect(read(text), text).to.equal(second * 1000);
      }),
      { numRuns: 1000 },
    );
  });

  it('knows the last days of months', () => {
    for (const day of ['2024-02-29', '2026-01-31', '2026-04-30', '2026-07-31', '2026-08-31', '2000-02-29']) {
      expect(read(`${day}T00:00:00Z`), day).to.equal(Date.parse(day));
    }
  });

  it('leaves to others what is written in any other way, or is no time', () => {
    const texts = [
      ...['', '2026-11-21T10:12:34.5Z', '2026-11-21T10:12:34+01:00', '2026-11-21t10:12:34z'],
      ...['2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z', '2026-02-29T00:00:00Z', '1900-02-29T00:00:00Z'],
      ...['2026-04-31T00:00:00Z', '2026-01-01T24:00:00Z', '2026-01-01T00:60:00Z', '2026-01-01T00:00:60Z'],
      ...['2026-01-0 T00:00:00Z', '+026-01-01T00:00:00Z', '2026-01-01 00:00:00Z', '2026/01/01T00:00:00Z'],
    ];
    for (const text of texts) expect(read(text), text).to.deep.equal(Number.NaN);
  });
});
