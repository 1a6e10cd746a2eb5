import { expect } from 'chai';
import fc from 'fast-check';
import { needsBothDays } from '#lib/schedule/calendar-schedule.ts';
import { excludedDays } from '#lib/schedule/excluded-days.ts';
import { parseFields } from '#lib/schedule/parse-schedule.ts';
import { ScheduleError } from '#lib/schedule/schedule.ts';
import { costOf } from '#spec/reliability/foreign-text/growth.ts';

const DAY_MS = 86_400_000;
const FIRST_DAY_MS = Date.UTC(2027, 0, 1);
/** With a 29 February. */
const DAYS = Array.from({ length: 2 * 366 }, (_, index) => FIRST_DAY_MS + index * DAY_MS);

describe('excludedDays', () => {
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
        const isExcluded = excludedDays(dates);
        expect(DAYS.filter(isExcluded)).to.deep.equal(
          DAYS.filter((dayMs) => dates.some((text) => isNamed(text, dayMs))),
        );
      }),
    );
  });

  it('takes 732 of them, and looks days up as fast as among a few', async () => {
    const patterns = Array.from(
      { length: 731 },
      (_, index) => `30 2 ${1 + (index % 6)}${' '.repeat(index % 99)}`,
    );
    const fewMs = await centuryMs(excludedDays(patterns.slice(0, 8)));
    expect(await centuryMs(excludedDays([...patterns, '* * *']))).to.be.below(20 * fewMs);
    expect(DAYS.every(excludedDays([...patterns, '* * *']))).to.equal(true);
  });

  it('refuses more of them, without reading any', () => {
    expect(() => excludedDays(Array(100_000).fill('no date'))).to.throw(
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

/** What it costs to look up a century, in milliseconds of CPU time. */
async function centuryMs(isExcluded: (dayMs: number) => boolean): Promise<number> {
  return await costOf(() => {
    for (let index = 0; index < 36_500; index++) isExcluded(FIRST_DAY_MS + index * DAY_MS);
  });
}
