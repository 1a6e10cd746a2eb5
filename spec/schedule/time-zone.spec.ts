import { expect } from 'chai';
import { ScheduleError } from '#lib/schedule/schedule.ts';
import { TimeZone } from '#lib/schedule/time-zone.ts';

describe('TimeZone', () => {
  it('returns the clock changes of a zone', () => {
    const zone = new TimeZone('Europe/Berlin');
    const segment = zone.segmentAt(Date.parse('2026-03-29T01:00:00Z'));
    expect(new Date(segment.startMs).toISOString()).to.equal('2026-03-29T01:00:00.000Z');
    expect(new Date(segment.endMs).toISOString()).to.equal('2026-10-25T01:00:00.000Z');
    expect(segment.offsetMs).to.equal(7_200_000);
    expect(new Date(segment.previousMaxMs).toISOString()).to.equal('2026-03-29T02:00:00.000Z');
  });

  it('joins its years without a gap', () => {
    const zone = new TimeZone('Australia/Lord_Howe');
    let { endMs, offsetMs } = zone.segmentAt(Date.parse('2020-06-01T00:00:00Z'));
    for (let count = 0; count < 20; count++) {
      const next = zone.segmentAt(endMs);
      expect(next.startMs).to.equal(endMs);
      expect(next.previousMaxMs).to.equal(endMs + offsetMs);
      ({ endMs, offsetMs } = next);
    }
  });

  it('has one zone for a name in any case, since each takes memory', () => {
    expect(TimeZone.named('EUROPE/berlin')).to.equal(TimeZone.named('Europe/Berlin'));
  });

  for (const name of ['', 'Mars/Olympus', '+02:00', 'Local', 'a'.repeat(100_000), '../etc/passwd']) {
    it(`refuses "${name.slice(0, 20)}"`, () => {
      expect(() => TimeZone.named(name)).to.throw(ScheduleError, 'is not in the IANA database');
    });
  }
});
