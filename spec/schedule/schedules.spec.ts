import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { ScheduleError } from '#lib/schedule/schedule.ts';
import { Schedules } from '#lib/schedule/schedules.ts';

const UTC = { timeZone: 'UTC', anchorMs: 0, excludeDates: [] };

describe('Schedules', () => {
  it('reads a schedule once that is asked for again, and another where its zone, its days or its beginning differ', () => {
    const schedules = new Schedules();
    const first = schedules.read('@daily', UTC);
    expect(schedules.read('@daily', { ...UTC, anchorMs: 9 })).to.equal(first);
    expect(schedules.read('@daily', { ...UTC, timeZone: 'Asia/Tokyo' })).not.to.equal(first);
    expect(schedules.read('@daily', { ...UTC, excludeDates: ['2026-12-25'] })).not.to.equal(first);
    const every = schedules.read('@every 7s', UTC);
    expect(schedules.read('@every 7s', UTC)).to.equal(every);
    expect(schedules.read('@every 7s', { ...UTC, anchorMs: 9 })).not.to.equal(every);
  });

  it('keeps those that were asked for lately, and no more than ten thousand', () => {
    const schedules = new Schedules();
    const read = (second: number) =>
      schedules.read(
        `${second % 60} ${Math.floor(second / 60) % 60} ${Math.floor(second / 3600)} * * *`,
        UTC,
      );
    const [often, once] = [read(0), read(1)];
    for (let second = 2; second < 10_010; second++) {
      read(second);
      expect(read(0)).to.equal(often);
    }
    expect(read(1)).not.to.equal(once);
    expect(read(1).next(0)).to.equal(once.next(0));
  });

  it('holds thousands of them in little memory', () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const schedules = new Schedules();
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let minute = 0; minute < 1440; minute++) {
      schedules.read(`${minute % 60} ${Math.floor(minute / 60)} * * *`, UTC).next(0);
    }
    collect();
    expect(process.memoryUsage().heapUsed - before).to.be.below(20 * 2 ** 20);
  });

  it('does not remember what cannot be read', () => {
    const schedules = new Schedules();
    for (let count = 0; count < 2; count++)
      expect(() => schedules.read('at dawn', UTC)).to.throw(ScheduleError);
  });
});
