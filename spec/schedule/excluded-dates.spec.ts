import { expect } from 'chai';
import fc from 'fast-check';
import { needsBothDays, parseFields } from '#lib/schedule/calendar-schedule.ts';
import { excludeDates, parseExcludedDays } from '#lib/schedule/excluded-dates.ts';
import { parseSchedule } from '#lib/schedule/parse-schedule.ts';
import { ScheduleError } from '#lib/schedule/schedule.ts';

import { TimeZone } from '#lib/schedule/time-zone.ts';
import { costOf } from '#spec/reliability/foreign-text/growth.ts';

describe('excludeDates', () => {
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

  it('stops after five years, not after as many activations as these have days', () => {
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
    const never = excludeDates(counted, [['1 1 *']], TimeZone.named('UTC'));
    expect([never.next(1.7e12), never.previous(1.7e12)]).to.deep.equal([undefined, undefined]);
    expect(calls.next).to.be.below(10);
    expect(calls.previous).to.be.below(10);
  });

  for (const [date, reason] of [
    ['2026-02-30', 'no such day'],
    [
      'tomorrow',
      'must be a date such as 2026-12-25, or have 3 fields (day of month, month, day of week), 5 or 6, not 1',
    ],
    [
      '1 1',
      'must be a date such as 2026-12-25, or have 3 fields (day of month, month, day of week), 5 or 6, not 2',
    ],
    ['32 * *', 'day of month "32" is not between 1 and 31'],
    ['1'.repeat(300), 'must be no longer than 256 characters'],
  ] as const) {
    it(`refuses ${date.slice(0, 20)}`, () => {
      expect(() => without('@daily', [date])).to.throw(ScheduleError, reason);
    });
  }
});

function without(text: string, dates: readonly string[]) {
  const timeZone = 'Asia/Shanghai';
  const schedule = parseSchedule(text, { timeZone, anchorMs: 0 });
  return excludeDates(schedule, [dates], TimeZone.named(timeZone));
}

const DAY_MS = 86_400_000;
const FIRST_DAY_MS = Date.UTC(2027, 0, 1);
/** Includes a 29 February. */
const DAYS = Array.from({ length: 2 * 366 }, (_, index) => FIRST_DAY_MS + index * DAY_MS);

describe('parseExcludedDays', () => {
  it('excludes the days that any of the patterns or dates names by itself', () => {
    const field = (first: number, last: number) =>
      fc.oneof(
        fc.constantFrom('*', '?', '*/2'),
        fc.integer({ min: first, max: last }).map(String),
        fc
          .tuple(fc.integer({ min: first, max: last }), fc.integer({ min: first, max: last }))
          .map(([one, other]) => `${Math.min(one, other)}-${Math.max(one, other)}`),
      );
    const pattern = fc.tuple(field(1, 31), field(1, 12), field(0, 6)).map((fields) => fields.join(' '));
    const date = fc.constantFrom(...DAYS).map(isoDate);
    fc.assert(
      fc.property(fc.array(fc.oneof(pattern, date), { maxLength: 5 }), (dates) => {
        const isExcluded = parseExcludedDays(dates);
        expect(DAYS.filter(isExcluded)).to.deep.equal(
          DAYS.filter((dayMs) => dates.some((text) => isNamed(text, dayMs))),
        );
      }),
    );
  });

  it('accepts 732 of them, and finds days as fast as among a few', async () => {
    const patterns = Array.from(
      { length: 731 },
      (_, index) => `30 2 ${1 + (index % 6)}${' '.repeat(index % 99)}`,
    );
    // The minimum of several alternating measurements, since load only increases them.
    let [fewMs, allMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let attempt = 0; attempt < 7 && !(allMs < 20 * fewMs); attempt++) {
      fewMs = Math.min(fewMs, await centuryMs(parseExcludedDays(patterns.slice(0, 8))));
      allMs = Math.min(allMs, await centuryMs(parseExcludedDays([...patterns, '* * *'])));
    }
    expect(allMs).to.be.below(20 * fewMs);
    expect(DAYS.every(parseExcludedDays([...patterns, '* * *']))).to.equal(true);
  });

  it('refuses more of them, without reading any', () => {
    expect(() => parseExcludedDays(Array(100_000).fill('no date'))).to.throw(
      ScheduleError,
      'Cannot read 100000 excluded dates: more than 732',
    );
  });
});

function isNamed(text: string, dayMs: number): boolean {
  if (!text.includes(' ')) return text === isoDate(dayMs);
  const day = new Date(dayMs);
  const fields = parseFields(`* * * ${text}`);
  if (!fields.month.values.includes(day.getUTCMonth() + 1)) return false;
  const isDate = fields.dayOfMonth.values.includes(day.getUTCDate());
  const isWeekday = fields.dayOfWeek.values.includes(day.getUTCDay());
  return needsBothDays(fields) ? isDate && isWeekday : isDate || isWeekday;
}

function isoDate(dayMs: number): string {
  return new Date(dayMs).toISOString().slice(0, 10);
}

/** The cost of looking up a century, in milliseconds of CPU time. */
async function centuryMs(isExcluded: (dayMs: number) => boolean): Promise<number> {
  return await costOf(() => {
    for (let index = 0; index < 36_500; index++) isExcluded(FIRST_DAY_MS + index * DAY_MS);
  });
}
