import { expect } from 'chai';
import { withoutDates } from '#lib/schedule/excluded-dates.ts';
import { parseSchedule } from '#lib/schedule/parse-schedule.ts';
import { ScheduleError } from '#lib/schedule/schedule.ts';
import { TimeZone } from '#lib/schedule/time-zone.ts';

describe('withoutDates', () => {
  for (const [what, dates, expected] of [
    ['a calendar day', ['2026-11-15'], ['14', '16', '17']],
    ['a day pattern', ['15 11 *'], ['14', '16', '17']],
    ['the days of a whole schedule, whatever its time of day', ['0 0 0 15 11 *'], ['14', '16', '17']],
    ['weekdays', ['* * SAT,SUN'], ['16', '17', '18']],
    ['several of them', ['2026-11-14', '* 11 SUN'], ['16', '17', '18']],
  ] as const) {
    it(`leaves out ${what}`, () => {
      const schedule = without('0 30 7 * * *', dates);
      let atMs = Date.parse('2026-11-14T00:00:00+08:00');
      const days = expected.map(() => {
        atMs = schedule.next(atMs) ?? Number.NaN;
        return new Date(atMs + 8 * 3_600_000).toISOString().slice(8, 10);
      });
      expect(days).to.deep.equal(expected);
    });
  }

  it('compares days in the zone of the job', () => {
    const schedule = without('0 30 7 * * *', ['2026-11-15']);
    const atMs = schedule.next(Date.parse('2026-11-14T12:00:00Z')) ?? Number.NaN;
    expect(new Date(atMs).toISOString()).to.equal('2026-11-15T23:30:00.000Z');
    expect(schedule.previous(atMs)).to.equal(Date.parse('2026-11-13T23:30:00Z'));
  });

  it('is never due where all days are excluded', () => {
    expect(without('* * * * * *', ['* * *']).next(0)).to.equal(undefined);
    expect(without('* * * * * *', ['* * *']).previous(1e12)).to.equal(undefined);
    expect(without('0 0 0 */2 * *', ['*/2 * *']).next(1.7e12)).to.equal(undefined);
    expect(without('@yearly', ['1 1 *']).next(1.7e12)).to.equal(undefined);
  });

  it('gives up after five years, not after as many activations as these have days', () => {
    const calls = { next: 0, previous: 0 };
    const yearly = parseSchedule('@yearly', { timeZone: 'UTC', anchorMs: 0 });
    const counted = {
      next: (afterMs: number) => {
        calls.next++;
        return yearly.next(afterMs);
      },
      previous: (beforeMs: number) => {
        calls.previous++;
        return yearly.previous(beforeMs);
      },
      delayMs: () => 0,
    };
    const never = withoutDates(counted, ['1 1 *'], TimeZone.named('UTC'));
    expect([never.next(1.7e12), never.previous(1.7e12)]).to.deep.equal([undefined, undefined]);
    expect(calls.next).to.be.below(10);
    expect(calls.previous).to.be.below(10);
  });

  for (const [date, reason] of [
    ['2026-02-30', 'there is no such day'],
    ['tomorrow', 'it takes 6 fields, or 5 without seconds, not 1'],
    ['32 * *', 'day of month "32" is not between 1 and 31'],
    ['1'.repeat(300), 'it is longer than 256 characters'],
  ] as const) {
    it(`refuses ${date.slice(0, 20)}`, () => {
      expect(() => without('@daily', [date])).to.throw(ScheduleError, reason);
    });
  }
});

function without(text: string, dates: readonly string[]) {
  const timeZone = 'Asia/Shanghai';
  const schedule = parseSchedule(text, { timeZone, anchorMs: 0 });
  return withoutDates(schedule, dates, TimeZone.named(timeZone));
}
