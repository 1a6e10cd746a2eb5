import { expect } from 'chai';
import fc from 'fast-check';
import { parseSchedule } from '#lib/schedule/parse-schedule.ts';
import { remembering } from '#lib/schedule/remembering.ts';
import type { Schedule } from '#lib/schedule/schedule.ts';

const BEGIN_MS = Date.parse('2026-03-28T00:00:00Z'); // the day before the clock is put forward
const options = { timeZone: 'Europe/Berlin', anchorMs: BEGIN_MS };

/** Counts how often it is asked. */
function counting(schedule: Schedule) {
  const asked = { next: 0, previous: 0 };
  const counted: Schedule = {
    ...{ delayMs: (atMs) => schedule.delayMs(atMs) },
    next: (afterMs) => {
      asked.next++;
      return schedule.next(afterMs);
    },
    previous: (beforeMs) => {
      asked.previous++;
      return schedule.previous(beforeMs);
    },
  };
  return { asked, schedule: remembering(counted) };
}

describe('remembering', () => {
  it('tells what the schedule tells, whatever it was asked before', () => {
    const texts = ['0 30 2 * * *', '*/7 * * * * *', '@every 90s', '0 0 0 29 2 *', '0 0 0 30 2 *'];
    const moment = fc.integer({ min: -3_600_000, max: 3 * 86_400_000 });
    const ask = fc.record({ next: fc.boolean(), moment });
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.array(ask, { maxLength: 20 }), (text, asks) => {
        const plain = parseSchedule(text, options);
        const remembered = remembering(parseSchedule(text, options));
        for (const { next, moment: ms } of asks) {
          const how = next ? 'next' : 'previous';
          expect(remembered[how](BEGIN_MS + ms)).to.equal(plain[how](BEGIN_MS + ms));
        }
        expect(remembered.delayMs(BEGIN_MS)).to.equal(plain.delayMs(BEGIN_MS));
      }),
    );
  });

  it('searches once for an activation until that is over', () => {
    const { asked, schedule } = counting(parseSchedule('0 0 * * * *', options));
    const hourMs = 3_600_000;
    for (let ms = 0; ms < hourMs; ms += 60_000)
      expect(schedule.next(BEGIN_MS + ms)).to.equal(BEGIN_MS + hourMs);
    expect(asked.next).to.equal(1);
    expect(schedule.next(BEGIN_MS + hourMs)).to.equal(BEGIN_MS + 2 * hourMs);
    expect(asked.next).to.equal(2);
    for (let ms = hourMs; ms > 0; ms -= 60_000) expect(schedule.previous(BEGIN_MS + ms)).to.equal(BEGIN_MS);
    expect(asked.previous).to.equal(1);
    expect(schedule.previous(BEGIN_MS)).to.equal(BEGIN_MS - hourMs);
    expect(asked.previous).to.equal(2);
  });
});
