import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import fc from 'fast-check';
import { cacheLastResults, parseSchedule, Schedules } from '#lib/schedule/parse-schedule.ts';
import { type Schedule, ScheduleError } from '#lib/schedule/schedule.ts';
import { CRON_DIFFERENCES, compareCronVector, parseCronVectors } from '#spec/support/cron-vectors.ts';

const UTC = { timeZone: 'UTC', anchorMs: 0, excludeDates: [] };

describe('Schedules', () => {
  it('parses a repeated schedule once, and another one for a different zone, exclusion or anchor', () => {
    const schedules = new Schedules();
    const first = schedules.read('@daily', UTC);
    expect(schedules.read('@daily', { ...UTC, anchorMs: 9 })).to.equal(first);
    expect(schedules.read('@daily', { ...UTC, timeZone: 'Asia/Tokyo' })).not.to.equal(first);
    expect(schedules.read('@daily', { ...UTC, excludeDates: [['2026-12-25']] })).not.to.equal(first);
    const every = schedules.read('@every 7s', UTC);
    expect(schedules.read('@every 7s', UTC)).to.equal(every);
    expect(schedules.read('@every 7s', { ...UTC, anchorMs: 9 })).not.to.equal(every);
  });

  it('caches the ten thousand most recently used ones', () => {
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

  it('caches thousands of them in little memory', () => {
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

  it('throws the cached error of an invalid schedule', () => {
    const schedules = new Schedules();
    const read = () => schedules.read('@daily', { ...UTC, excludeDates: [['24 DEC *', 'someday']] });
    const thrown = [read, read].map((one) => {
      try {
        return one();
      } catch (error) {
        return error;
      }
    });
    expect(thrown[0]).to.be.instanceOf(ScheduleError);
    expect(thrown[1]).to.equal(thrown[0]);
  });

  it('caches long lists of excluded dates in little memory', () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const schedules = new Schedules();
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let index = 0; index < 300; index++) {
      const excludeDates = Array.from({ length: 366 }, (_, day) =>
        `${1 + (day % 28)} 1 *`.padStart(256 - (index % 100)),
      );
      schedules.read(`${index % 60} ${Math.floor(index / 60)} * * *`, {
        ...UTC,
        excludeDates: [excludeDates],
      });
    }
    collect();
    expect(process.memoryUsage().heapUsed - before).to.be.below(10 * 2 ** 20);
  });
});

const NOW_MS = Date.parse('2026-07-15T10:20:30Z');

describe('parseSchedule', () => {
  const comparisons = parseCronVectors(readFileSync('spec/fixtures/cron/vectors.jsonl', 'utf8')).map(
    (vector) => ({
      vector,
      ...compareCronVector(vector),
    }),
  );

  it('returns the recorded activations, except for deliberate differences', () => {
    expect(comparisons.filter(({ outcome }) => outcome === 'differs')).to.deep.equal([]);
    expect(comparisons).to.have.length.above(1900);
  });

  it('has a row in docs/reference/cron-hpa.md for each difference, with the number of vectors that show it', () => {
    const rows = [
      ...readFileSync('docs/reference/cron-hpa.md', 'utf8').matchAll(/^\| `([a-z-]+)` \|.*\| (\d+) \|$/gm),
    ];
    const counted = CRON_DIFFERENCES.map((name) => [
      name,
      String(comparisons.filter(({ differences }) => differences.includes(name)).length),
    ]);
    expect(rows.map(([, name, count]) => [name, count])).to.deep.equal(counted);
  });

  it('accepts five fields as CronJob does', () => {
    expect(nextOf('30 9 * * MON-FRI', 'Asia/Shanghai', 2)).to.deep.equal([
      '2026-07-16T01:30:00.000Z',
      '2026-07-17T01:30:00.000Z',
    ]);
  });

  it('counts @every from its anchor, whatever the time', () => {
    const schedule = parseSchedule('@every 90s', { timeZone: 'UTC', anchorMs: NOW_MS });
    expect(schedule.next(NOW_MS + 1000)).to.equal(NOW_MS + 90_000);
    expect(schedule.next(NOW_MS - 1_000_000)).to.equal(NOW_MS + 90_000);
    expect(schedule.previous(NOW_MS + 300_000)).to.equal(NOW_MS + 270_000);
    expect(schedule.previous(NOW_MS + 90_000)).to.equal(undefined);
  });

  it('reads @date as one time of a zone, also if the clock skips it', () => {
    const at = (text: string, timeZone = 'Europe/Berlin') => nextOf(text, timeZone, 2);
    expect(at('@date 2026-10-27 21:54:00')).to.deep.equal(['2026-10-27T20:54:00.000Z']);
    expect(at('TZ=Asia/Tokyo @date  2027-01-01 00:00:01')).to.deep.equal(['2026-12-31T15:00:01.000Z']);
    expect(at('@date 2027-03-28 02:30:00')).to.deep.equal(['2027-03-28T01:00:00.000Z']); // skipped
    expect(at('@date 2026-10-25 02:30:00')).to.deep.equal(['2026-10-25T00:30:00.000Z']); // repeated
    expect(at('@date 2028-02-29 12:00:00', 'UTC')).to.deep.equal(['2028-02-29T12:00:00.000Z']);
    expect(at('@date 2026-07-15 10:20:30', 'UTC')).to.deep.equal([]); // now
    expect(at('@date 2026-07-15 10:20:31', 'UTC')).to.deep.equal(['2026-07-15T10:20:31.000Z']);
    const past = parseSchedule('@date 2026-07-15 10:20:30', UTC);
    expect(past.previous(NOW_MS + 1)).to.equal(NOW_MS);
    expect(past.previous(NOW_MS)).to.equal(undefined);
    const skipped = parseSchedule('@date 2027-03-28 02:30:00', { ...UTC, timeZone: 'Europe/Berlin' });
    expect(skipped.delayMs(skipped.next(NOW_MS) ?? 0)).to.equal(1_800_000);
  });

  it('prefers a zone of the schedule to that of the job', () => {
    expect(nextOf('CRON_TZ=Asia/Tokyo 0 0 9 * * *', 'UTC', 1)).to.deep.equal(['2026-07-16T00:00:00.000Z']);
  });

  for (const [text, reason] of [
    ['', 'must have 6 fields, or 5 without seconds, not 0'],
    ['* * * * * * *', 'must have 6 fields, or 5 without seconds, not 7'],
    ['60 * * * * *', 'second "60" is not between 0 and 59'],
    ['0 0 0 * FOO *', 'month "FOO" is not a number'],
    ['0 0 0 * * 7', 'day of week "7" is not between 0 and 6'],
    ['0 5-1 * * * *', 'minute "5-1" begins after its end'],
    ['0 */0 * * * *', 'step of minute "*/0" is not positive'],
    ['0 1/2/3 * * * *', 'minute "1/2/3" has more than one step or more than two bounds'],
    ['0 , * * * *', 'minute "," has no value'],
    ['@date 2026-02-30 00:00:00', 'no such day'],
    ['@date 2026-13-01 00:00:00', 'no such day'],
    ['@date 2026-00-10 00:00:00', 'no such day'],
    ['@date 2026-01-01 24:00:00', 'hour "24" is not between 0 and 23'],
    ['@date 2026-01-01', '@date takes a time such as 2026-12-24 18:00:00'],
    ['@date 2026-01-01T10:00:00', '@date takes a time such as'],
    ['@dates 2026-01-01 10:00:00', '@date takes a time such as'],
    ['@never', 'unknown descriptor: only @yearly'],
    ['@constructor', 'unknown descriptor: only @yearly'],
    ['@every soon', '@every takes a duration such as 90s or 1h30m'],
    ['TZ=Mars/Olympus * * * * * *', 'time zone "Mars/Olympus" is not in the IANA database'],
    ['TZ= * * * * * *', 'time zone "" is not in the IANA database'],
  ] as const) {
    it(`refuses "${text}"`, () => {
      const parse = () => parseSchedule(text, { timeZone: 'UTC', anchorMs: 0 });
      expect(parse).to.throw(ScheduleError, `Cannot read schedule ${JSON.stringify(text)}: ${reason}`);
    });
  }

  it('refuses long texts and shows only their beginning', () => {
    const parse = () =>
      parseSchedule(`${'1,'.repeat(1_000_000)} * * * * *`, { timeZone: 'UTC', anchorMs: 0 });
    expect(parse).to.throw(
      ScheduleError,
      /^Cannot read schedule "[1,]{80}…": must be no longer than 256 characters$/,
    );
  });

  for (const [what, text, next] of [
    ['30 February', '0 0 0 30 2 *', []],
    ['the 31st of short months', '0 0 0 31 4,6,9,11 *', []],
    ['a day of week on an impossible day', '0 0 0 30 2 ?', []],
    ['a leap day', '0 0 0 29 2 *', ['2028-02-29T00:00:00.000Z']],
    ['the last second of a year', '59 59 23 31 12 *', ['2026-12-31T23:59:59.000Z']],
  ] as const) {
    it(`computes when ${what} is due`, () => expect(nextOf(text, 'UTC', 1)).to.deep.equal(next));
  }
});

function nextOf(text: string, timeZone: string, count: number): string[] {
  const schedule = parseSchedule(text, { timeZone, anchorMs: NOW_MS });
  const activations: string[] = [];
  let atMs = schedule.next(NOW_MS);
  for (; atMs !== undefined && activations.length < count; atMs = schedule.next(atMs))
    activations.push(new Date(atMs).toISOString());
  return activations;
}

const BEGIN_MS = Date.parse('2026-03-28T00:00:00Z'); // the day before clocks go forward
const options = { timeZone: 'Europe/Berlin', anchorMs: BEGIN_MS };

/** Counts calls of a schedule. */
function counting(schedule: Schedule) {
  const requested = { next: 0, previous: 0 };
  const counted: Schedule = {
    ...{ delayMs: (atMs) => schedule.delayMs(atMs) },
    next: (afterMs) => {
      requested.next++;
      return schedule.next(afterMs);
    },
    previous: (beforeMs) => {
      requested.previous++;
      return schedule.previous(beforeMs);
    },
  };
  return { requested, schedule: cacheLastResults(counted) };
}

describe('cacheLastResults', () => {
  it('returns the results of the schedule, whatever was requested before', () => {
    const texts = ['0 30 2 * * *', '*/7 * * * * *', '@every 90s', '0 0 0 29 2 *', '0 0 0 30 2 *'];
    const moment = fc.integer({ min: -3_600_000, max: 3 * 86_400_000 });
    const request = fc.record({ next: fc.boolean(), moment });
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.array(request, { maxLength: 20 }), (text, requests) => {
        const plain = parseSchedule(text, options);
        const cached = cacheLastResults(parseSchedule(text, options));
        for (const { next, moment: ms } of requests) {
          const how = next ? 'next' : 'previous';
          expect(cached[how](BEGIN_MS + ms)).to.equal(plain[how](BEGIN_MS + ms));
        }
        expect(cached.delayMs(BEGIN_MS)).to.equal(plain.delayMs(BEGIN_MS));
      }),
    );
  });

  it('searches once for an activation until that is over', () => {
    const { requested, schedule } = counting(parseSchedule('0 0 * * * *', options));
    const hourMs = 3_600_000;
    for (let ms = 0; ms < hourMs; ms += 60_000)
      expect(schedule.next(BEGIN_MS + ms)).to.equal(BEGIN_MS + hourMs);
    expect(requested.next).to.equal(1);
    expect(schedule.next(BEGIN_MS + hourMs)).to.equal(BEGIN_MS + 2 * hourMs);
    expect(requested.next).to.equal(2);
    for (let ms = hourMs; ms > 0; ms -= 60_000) expect(schedule.previous(BEGIN_MS + ms)).to.equal(BEGIN_MS);
    expect(requested.previous).to.equal(1);
    expect(schedule.previous(BEGIN_MS)).to.equal(BEGIN_MS - hourMs);
    expect(requested.previous).to.equal(2);
  });

  it('searches once where there is nothing to find', () => {
    const { requested, schedule } = counting(parseSchedule('0 0 0 30 2 *', options));
    for (let count = 0; count < 3; count++) {
      expect(schedule.next(BEGIN_MS)).to.equal(undefined);
      expect(schedule.previous(BEGIN_MS + 1000 * count)).to.equal(undefined);
    }
    expect(requested.previous).to.equal(1);
    expect(requested.next).to.be.below(4);
  });
});
