import { expect } from 'chai';
import fc from 'fast-check';
import { readScalingSchedule } from '#lib/metrics-adapter/scaling-schedules/scaling-schedule.ts';
import { scheduledValue } from '#lib/metrics-adapter/scaling-schedules/scheduled-value.ts';

const DEFAULTS = { windowMs: 600_000, rampSteps: 10, timeZone: 'Europe/Berlin' };

function at(time: string, schedules: readonly object[], window?: number) {
  const spec = { schedules, ...(window === undefined ? {} : { scalingWindowDurationMinutes: window }) };
  const schedule = readScalingSchedule({ metadata: { name: 'a', namespace: 'n' }, spec }, 'ScalingSchedule');
  return scheduledValue(schedule, Date.parse(time), DEFAULTS);
}

function valueAt(time: string, schedules: readonly object[], window?: number): number {
  return at(time, schedules, window).value;
}

describe('scheduledValue', () => {
  const once = { type: 'OneTime', date: '2026-03-02T10:00:00Z', durationMinutes: 15, value: 105 };

  it('counts from the start up to the end, which is not part of it', () => {
    expect(valueAt('2026-03-02T09:59:59Z', [once], 0)).to.equal(0);
    expect(valueAt('2026-03-02T10:00:00Z', [once], 0)).to.equal(105);
    expect(valueAt('2026-03-02T10:14:59Z', [once], 0)).to.equal(105);
    expect(valueAt('2026-03-02T10:15:00Z', [once], 0)).to.equal(0);
  });

  it('ends with the later of end and duration', () => {
    const early = { ...once, endDate: '2026-03-02T10:05:00Z' };
    const late = { ...once, endDate: '2026-03-02T10:30:00Z' };
    expect(valueAt('2026-03-02T10:14:59Z', [early], 0)).to.equal(105);
    expect(valueAt('2026-03-02T10:29:59Z', [late], 0)).to.equal(105);
    expect(valueAt('2026-03-02T10:30:00Z', [late], 0)).to.equal(0);
  });

  it('is raised and lowered in steps, cut to whole numbers', () => {
    expect(at('2026-03-02T09:49:59Z', [once])).to.deep.equal({ value: 0, wholeValue: 0, isActive: false });
    expect(at('2026-03-02T09:50:30Z', [once])).to.deep.equal({ value: 0, wholeValue: 105, isActive: true });
    expect(valueAt('2026-03-02T09:51:00Z', [once])).to.equal(10);
    expect(valueAt('2026-03-02T09:59:59Z', [once])).to.equal(94);
    expect(valueAt('2026-03-02T10:15:00Z', [once])).to.equal(105);
    expect(valueAt('2026-03-02T10:16:30Z', [once])).to.equal(84);
    expect(at('2026-03-02T10:24:59Z', [once])).to.deep.equal({ value: 0, wholeValue: 105, isActive: true });
    expect(at('2026-03-02T10:25:00Z', [once]).isActive).to.equal(false);
    expect(valueAt('2026-03-02T09:45:00Z', [once], 30)).to.equal(52);
  });

  it('is the highest where several overlap', () => {
    const more = { ...once, date: '2026-03-02T10:10:00Z', value: 300 };
    expect(valueAt('2026-03-02T10:05:00Z', [once, more])).to.equal(150);
    expect(at('2026-03-02T10:01:00Z', [once, more])).to.include({ value: 105, wholeValue: 300 });
    expect(valueAt('2026-03-02T10:12:00Z', [more, once])).to.equal(300);
  });

  const weekday = (period: object, more: object = {}) => ({
    ...{ type: 'Repeating', value: 50, ...more },
    period: { startTime: '18:00', endTime: '20:00', days: ['Mon'], timezone: 'Europe/Berlin', ...period },
  });

  it('repeats on its days, by the clock of its time zone', () => {
    expect(valueAt('2026-03-02T16:59:59Z', [weekday({})], 0)).to.equal(0); // a Monday, 17:59 in winter
    expect(valueAt('2026-03-02T17:00:00Z', [weekday({})], 0)).to.equal(50);
    expect(valueAt('2026-03-02T19:00:00Z', [weekday({})], 0)).to.equal(0);
    expect(valueAt('2026-03-03T17:30:00Z', [weekday({})], 0)).to.equal(0);
    expect(valueAt('2026-07-06T16:00:00Z', [weekday({})], 0)).to.equal(50); // 18:00 in summer
    expect(valueAt('2026-03-02T09:30:00Z', [weekday({ timezone: 'Asia/Tokyo' })], 0)).to.equal(50);
  });

  it('uses the default time zone for an absent or unknown one', () => {
    for (const timezone of ['', 'Mars/Olympus'])
      expect(valueAt('2026-03-02T17:00:00Z', [weekday({ timezone })], 0)).to.equal(50);
  });

  it('reaches across midnight: by an end before the start, by a duration, and by a ramp', () => {
    const night = weekday({ startTime: '23:00', endTime: '02:00' });
    expect(valueAt('2026-03-03T00:30:00Z', [night], 0)).to.equal(50); // Tuesday, 01:30
    expect(valueAt('2026-03-03T01:00:00Z', [night], 0)).to.equal(0);
    const long = weekday({ startTime: '23:00', endTime: '' }, { durationMinutes: 49 * 60 });
    expect(valueAt('2026-03-04T22:59:00Z', [long], 0)).to.equal(50);
    expect(valueAt('2026-03-04T23:00:00Z', [long], 0)).to.equal(0);
    const midnight = weekday({ startTime: '00:00', endTime: '01:00' });
    expect(valueAt('2026-03-01T22:55:00Z', [midnight])).to.equal(25); // Sunday, 23:55
    const untilMidnight = weekday({ startTime: '22:00', endTime: '23:59' });
    expect(valueAt('2026-03-02T23:04:00Z', [untilMidnight])).to.equal(25); // Tuesday, 00:04
  });

  it('counts on the days on which the clock is changed', () => {
    const sunday = { days: ['Sun'], startTime: '02:30', endTime: '04:00' };
    expect(valueAt('2026-03-29T01:29:59Z', [weekday(sunday)], 0)).to.equal(0);
    expect(valueAt('2026-03-29T01:30:00Z', [weekday(sunday)], 0)).to.equal(50); // 03:30, since 02:30 does not exist
    expect(valueAt('2026-03-29T02:00:00Z', [weekday(sunday)], 0)).to.equal(0);
    expect(valueAt('2026-10-25T00:30:00Z', [weekday(sunday)], 0)).to.equal(50); // 02:30 for the first time
    expect(valueAt('2026-10-25T02:59:59Z', [weekday(sunday)], 0)).to.equal(50);
  });

  it('never leaves the range of its values, and is active whenever it is not 0', () => {
    const entry = fc.record({
      type: fc.constant('Repeating'),
      value: fc.integer({ min: 0, max: 1000 }),
      durationMinutes: fc.integer({ min: 0, max: 20_000 }),
      period: fc.record({
        startTime: fc.constantFrom('00:00', '02:30', '23:59'),
        endTime: fc.constantFrom('', '00:00', '12:00'),
        days: fc.subarray(['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']),
        timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'Pacific/Apia'),
      }),
    });
    fc.assert(
      fc.property(
        fc.array(entry, { maxLength: 4 }),
        fc.integer({ min: 0, max: 5000 }),
        fc.date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true }),
        (entries, window, date) => {
          const { value, wholeValue, isActive } = at(date.toISOString(), entries, window);
          expect(value).to.be.within(0, wholeValue);
          if (wholeValue > 0) expect(isActive).to.equal(true);
          expect(wholeValue).to.be.at.most(Math.max(0, ...entries.map((one) => one.value)));
        },
      ),
      { numRuns: 300 },
    );
  });
});
