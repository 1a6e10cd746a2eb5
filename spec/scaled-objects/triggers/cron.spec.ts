import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { cronTrigger } from '#lib/scaled-objects/triggers/cron.ts';
import { type CronVector, compareCronVector, parseCronVectors } from '#spec/support/cron-vectors.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { planned } from '#spec/support/planned-trigger.ts';

const MINUTE_MS = 60_000;

/** Whether a window is active at a time, and its desired replicas. */
async function at(moment: string, window: Record<string, string>) {
  const clock = new ManualClock(Date.parse(moment));
  const metadata = { timezone: 'UTC', desiredReplicas: '3', ...window };
  return await (await planned(cronTrigger({ clock }), { metadata })).send();
}

const isActive = async (moment: string, start: string, end: string, timezone = 'UTC') =>
  (await at(moment, { start, end, timezone })).isActive;

describe('cronTrigger', () => {
  it('has its replicas from the start to just before the end', async () => {
    const window = { start: '0 8 * * *', end: '0 18 * * *' };
    const none = { value: 0, isActive: false };
    expect(await at('2026-01-01T07:59:59.999Z', window)).to.deep.equal(none);
    expect(await at('2026-01-01T08:00:00Z', window)).to.deep.equal({ value: 3, isActive: true });
    expect(await at('2026-01-01T17:59:59.999Z', window)).to.deep.equal({ value: 3, isActive: true });
    expect(await at('2026-01-01T18:00:00Z', window)).to.deep.equal(none);
  });

  it('lasts across midnight, over weekends, and with both day fields restricted', async () => {
    for (const [moment, expected] of [
      ['2026-01-01T21:59:00Z', false],
      ['2026-01-01T22:00:00Z', true],
      ['2026-01-02T05:59:00Z', true],
      ['2026-01-02T06:00:00Z', false],
    ] as const)
      expect(await isActive(moment, '0 22 * * *', '0 6 * * *'), moment).to.equal(expected);
    const [start, end] = ['0 18 * * 5', '0 8 * * 1'];
    expect(await isActive('2026-01-04T12:00:00Z', start, end)).to.equal(true); // a Sunday
    expect(await isActive('2026-01-05T08:00:00Z', start, end)).to.equal(false);
    // The 13th, or any Friday.
    expect(await isActive('2026-01-13T12:00:00Z', '0 0 13 * 5', '0 0 14 * 6')).to.equal(true);
    expect(await isActive('2026-01-16T12:00:00Z', '0 0 13 * 5', '0 0 14 * 6')).to.equal(true);
  });

  it('uses the clock of its time zone, also when daylight saving time changes', async () => {
    const berlin = async (moment: string) =>
      await isActive(moment, '30 1 * * *', '30 3 * * *', 'Europe/Berlin');
    expect(await berlin('2026-03-29T00:29:00Z')).to.equal(false);
    expect(await berlin('2026-03-29T00:30:00Z')).to.equal(true); // 1:30, and 2:00 is 3:00
    expect(await berlin('2026-03-29T01:30:00Z')).to.equal(false);
    expect(await berlin('2026-10-24T23:30:00Z')).to.equal(true); // 1:30, and 3:00 is 2:00
    expect(await berlin('2026-10-25T02:29:00Z')).to.equal(true);
    expect(await berlin('2026-10-25T02:30:00Z')).to.equal(false);
  });

  it('is never active without a start, and always after its start without an end', async () => {
    expect(await isActive('2026-01-01T00:00:00Z', '0 0 30 2 *', '0 8 * * *')).to.equal(false);
    expect(await isActive('2026-01-01T00:00:00Z', '0 8 * * *', '0 0 30 2 *')).to.equal(false);
  });

  it('has a target of 1 and a name that is valid in paths', async () => {
    const clock = new ManualClock();
    const metadata = { timezone: 'UTC', desiredReplicas: '3', start: '*/5 8,9 * * ?', end: '0 18 1-5 * *' };
    const { name, target } = await planned(cronTrigger({ clock }), { metadata });
    expect([name, target]).to.deep.equal(['cron-UTC-xSl58Cm9xxQm-0181-5xx', 1]);
  });

  it('decides by the recorded activations of any two schedules as KEDA does', async () => {
    const groups = new Map<string, { schedule: string; nextMs: number }[]>();
    for (const vector of parseCronVectors(readFileSync('spec/fixtures/cron/vectors.jsonl', 'utf8'))) {
      const found = fiveFields(vector);
      if (!found || compareCronVector(vector).outcome !== 'agrees') continue;
      const group = `${vector.timeZone} ${vector.from}`;
      groups.set(group, [...(groups.get(group) ?? []), found]);
    }
    let compared = 0;
    for (const [group, schedules] of groups) {
      const [timezone = '', from = ''] = group.split(' ');
      for (const [index, start] of schedules.entries()) {
        const end = schedules[(index + 1) % schedules.length];
        if (!end || end.schedule === start.schedule) continue;
        const expected = end.nextMs <= start.nextMs;
        const reported = await isActive(from, start.schedule, end.schedule, timezone);
        expect(reported, `${start.schedule} to ${end.schedule}, ${group}`).to.equal(expected);
        compared++;
      }
    }
    expect(compared).to.be.above(300);
  });
});

/** Removes the seconds of a schedule whose seconds are 0. */
function fiveFields({ schedule, next = [] }: CronVector): { schedule: string; nextMs: number } | undefined {
  const [seconds, ...rest] = schedule.split(' ');
  const nextMs = Date.parse(next[0] ?? '');
  if (seconds !== '0' || rest.length !== 5 || !Number.isFinite(nextMs) || nextMs % MINUTE_MS !== 0)
    return undefined;
  return { schedule: rest.join(' '), nextMs };
}
