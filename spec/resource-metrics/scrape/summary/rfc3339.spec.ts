import { expect } from 'chai';
import fc from 'fast-check';
import { parseRfc3339 } from '#lib/resource-metrics/scrape/summary/rfc3339.ts';

describe('parseRfc3339', () => {
  it('reads each moment of the years 0 to 9999, in any zone', () => {
    const [first, last] = [Date.parse('0000-01-02T00:00:00Z'), Date.parse('9999-12-30T23:59:59Z')];
    const zone = fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 });
    fc.assert(
      fc.property(fc.integer({ min: first, max: last }), zone, (timeMs, minutes) => {
        const sign = minutes < 0 ? '-' : '+';
        const clock = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
        const offset = sign + clock.map((part) => String(part).padStart(2, '0')).join(':');
        const local = new Date(timeMs + minutes * 60_000).toISOString().slice(0, -1);
        expect(parseRfc3339(local + offset), local + offset).to.equal(timeMs);
      }),
      { numRuns: 1000 },
    );
  });

  it('reads whole seconds and any fraction down to nanoseconds', () => {
    const wholeMs = Date.UTC(2026, 10, 21, 10, 12, 34);
    expect(parseRfc3339('2026-11-21T10:12:34Z')).to.equal(wholeMs);
    expect(parseRfc3339('2026-11-21T10:12:34.5Z')).to.equal(wholeMs + 500);
    expect(parseRfc3339('2026-11-21T10:12:34.123456789Z')).to.equal(wholeMs + 123);
  });

  it('knows the last days of months', () => {
    for (const day of ['2024-02-29', '2026-01-31', '2026-04-30', '2026-07-31', '2026-08-31', '2000-02-29'])
      expect(parseRfc3339(`${day}T00:00:00Z`), day).to.equal(Date.parse(day));
  });

  it('takes nothing else for a time, though Date.parse may', () => {
    const texts = [
      ...['', '5', '2026', '2026-11-21', '2026-11-21T10:12:34', '2026-11-21 10:12:34Z', 'Nov 21, 2026'],
      ...[
        '2026-11-21t10:12:34z',
        '+200000-01-01T00:00:00Z',
        '-000001-01-01T00:00:00Z',
        '02026-01-01T00:00:00Z',
      ],
      ...['2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z', '2026-02-29T00:00:00Z', '1900-02-29T00:00:00Z'],
      ...['2026-04-31T00:00:00Z', '2026-01-01T24:00:00Z', '2026-01-01T00:60:00Z', '2026-01-01T00:00:60Z'],
      ...[
        '2026-01-01T00:00:00+24:00',
        '2026-01-01T00:00:00+0100',
        '2026-01-01T00:00:00.Z',
        '2026-01-01T00:00:00Z ',
      ],
      `2026-01-01T00:00:00.${'0'.repeat(10)}Z`,
    ];
    for (const text of texts) expect(parseRfc3339(text), text).to.deep.equal(Number.NaN);
  });
});
