import { expect } from 'chai';
import { Cron } from 'croner';
import fc from 'fast-check';
import { parseSchedule } from '#lib/schedule/parse-schedule.ts';
import type { Schedule } from '#lib/schedule/schedule.ts';

describe('CalendarSchedule', () => {
  for (const [what, text, timeZone, from, expected] of [
    [
      'a daily job at 02:30 when the clock goes from 02:00 to 03:00',
      '0 30 2 * * *',
      'Europe/Berlin',
      '2026-03-28T12:00:00Z',
      ['2026-03-29T01:00:00', '2026-03-30T00:30:00'],
    ],
    [
      'a daily job at 02:30 when 02:30 comes twice',
      '0 30 2 * * *',
      'Europe/Berlin',
      '2026-10-24T12:00:00Z',
      ['2026-10-25T00:30:00', '2026-10-26T01:30:00'],
    ],
    [
      'several skipped times together',
      '0 */10 2,14 * * *',
      'Europe/Berlin',
      '2026-03-29T00:00:00Z',
      ['2026-03-29T01:00:00', '2026-03-29T12:00:00'],
    ],
    [
      'every hour of both passes',
      '0 30 * * * *',
      'Europe/Berlin',
      '2026-10-25T00:00:00Z',
      ['2026-10-25T00:30:00', '2026-10-25T01:30:00', '2026-10-25T02:30:00'],
    ],
    [
      'midnight where the clock skips it',
      '@daily',
      'Africa/Cairo',
      '2026-04-23T12:00:00Z',
      ['2026-04-23T22:00:00', '2026-04-24T21:00:00'],
    ],
    [
      'a change by half an hour',
      '0 15 2 * * *',
      'Australia/Lord_Howe',
      '2026-10-03T00:00:00Z',
      ['2026-10-03T15:30:00', '2026-10-04T15:15:00'],
    ],
    [
      'a day that a zone skipped',
      '0 0 12 30 12 *',
      'Pacific/Apia',
      '2011-12-29T00:00:00Z',
      ['2011-12-30T10:00:00', '2012-12-29T22:00:00'],
    ],
    [
      'a second pass that reaches back into the day before',
      '0 30 23 * * *',
      'America/Sao_Paulo',
      '2018-02-17T12:00:00Z',
      ['2018-02-18T01:30:00', '2018-02-19T02:30:00'],
    ],
  ] as const) {
    it(`is due for ${what}`, () => {
      const schedule = parseSchedule(text, { timeZone, anchorMs: 0 });
      const instants: string[] = [];
      let atMs = Date.parse(from);
      for (const _ of expected) {
        atMs = schedule.next(atMs) ?? Number.NaN;
        instants.push(new Date(atMs).toISOString().slice(0, 19));
      }
      expect(instants).to.deep.equal(expected);
    });
  }

  const schedules = fc.record({
    second: fc.constantFrom('0', '30', '*/20'),
    minute: fc.constantFrom('0', '30', '*/15', '5-50/9', '*'),
    hour: fc.constantFrom('*', '2', '0,1,2,3', '*/2', '23', '1-3'),
    days: fc.constantFrom('* * *', '? * SUN', '29 3,10 *', '1 * MON'),
    timeZone: fc.constantFrom(
      ...[
        'Europe/Berlin',
        'America/New_York',
        'Australia/Lord_Howe',
        'Africa/Cairo',
        'Africa/Casablanca',
        'UTC',
      ],
    ),
    fromMs: fc
      .constantFrom(
        ...[
          '2026-03-28T20:00Z',
          '2026-10-24T20:00Z',
          '2026-04-04T10:00Z',
          '2026-10-03T10:00Z',
          '2026-04-23T18:00Z',
        ],
        ...['2026-11-01T01:00Z', '2026-03-08T01:00Z', '2026-02-14T20:00Z', '2026-12-31T20:00Z'],
      )
      .map((text) => Date.parse(text)),
  });

  it('never returns an earlier time than requested, in either direction', () => {
    fc.assert(
      fc.property(schedules, ({ second, minute, hour, days, timeZone, fromMs }) => {
        const text = `${second} ${minute} ${hour} ${days}`;
        const schedule = parseSchedule(text, { timeZone, anchorMs: 0 });
        let earlierMs = must(schedule.next(fromMs));
        expect(earlierMs).to.be.above(fromMs);
        for (let count = 0; count < 12; count++) {
          const laterMs = must(schedule.next(earlierMs));
          expect(laterMs).to.be.above(earlierMs);
          expect(schedule.previous(laterMs)).to.equal(earlierMs);
          expect(schedule.next(laterMs - 1000)).to.equal(laterMs);
          expect(schedule.next(Math.floor((earlierMs + laterMs) / 2000) * 1000)).to.equal(laterMs);
          earlierMs = laterMs;
        }
      }),
      { numRuns: 150 },
    );
  });

  it('names each time of day once a day, whatever the clock does', () => {
    for (const timeZone of ['Europe/Berlin', 'Africa/Cairo', 'Australia/Lord_Howe', 'America/Sao_Paulo']) {
      for (let hour = 0; hour < 24; hour++) {
        const schedule = parseSchedule(`0 20 ${hour} * * *`, { timeZone, anchorMs: 0 });
        expect(
          countIn(schedule, '2026-01-01T12:00:00Z', '2027-01-01T12:00:00Z'),
          `${hour} ${timeZone}`,
        ).to.equal(365);
      }
    }
  });

  it('walks through the calendar of UTC as croner does, over leap years and centuries, both ways', () => {
    const field = (first: number, last: number) =>
      fc.oneof(
        fc.constant('*'),
        fc.uniqueArray(fc.integer({ min: first, max: last }), { minLength: 1, maxLength: 4 }).map(String),
      );
    const texts = fc
      .tuple(field(0, 59), field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6))
      .map((fields) => fields.join(' '));
    const atMs = fc.integer({ min: Date.parse('2015-01-01'), max: Date.parse('2110-01-01') });
    fc.assert(
      fc.property(fc.oneof(texts, fc.constant('0 0 0 29 2 *')), atMs, (text, fromMs) => {
        const [, , , dayOfMonth, , dayOfWeek] = text.split(' ');
        const domAndDow = dayOfMonth === '*' || dayOfWeek === '*';
        const options = { mode: '6-part', utcOffset: 0, paused: true, domAndDow } as const;
        const schedule = parseSchedule(text, { timeZone: 'UTC', anchorMs: 0 });
        const judge = new Cron(text, options);
        const year = new Date(fromMs).getUTCFullYear();
        const next = judge.nextRun(new Date(fromMs));
        const isSoon = next !== null && next.getUTCFullYear() <= year + 5;
        expect(schedule.next(fromMs), text).to.equal(isSoon ? next.getTime() : undefined);
        const previous = judge.previousRuns(1, new Date(fromMs))[0];
        const isRecent = previous !== undefined && previous.getUTCFullYear() >= year - 5;
        if (isRecent) expect(schedule.previous(fromMs), text).to.equal(previous.getTime());
        else expect(schedule.previous(fromMs), text).to.be.oneOf([undefined, previous?.getTime()]);
      }),
      { numRuns: 2_000 },
    );
  });
});

function countIn(schedule: Schedule, from: string, until: string): number {
  let count = 0;
  for (
    let atMs = schedule.next(Date.parse(from));
    must(atMs) < Date.parse(until);
    atMs = schedule.next(must(atMs))
  )
    count++;
  return count;
}

function must(value: number | undefined): number {
  if (value === undefined) throw new Error('there is none');
  return value;
}
