import { expect } from 'chai';
import { planJobs } from '#lib/cron-hpa/plan/planned-job.ts';
import { statusAfter } from '#lib/cron-hpa/statuses/next-status.ts';
import { Schedules } from '#lib/schedule/schedules.ts';
import { cronHpa, job, planAt } from '#spec/support/cron-hpas.ts';

const NOW = '2026-07-15T10:00:00Z';

describe('planJobs', () => {
  it('counts from when a job was first seen', () => {
    const [planned] = planAt(cronHpa(), NOW);
    expect(planned?.sinceMs).to.equal(Date.parse(NOW));
    expect(planned?.condition).to.equal(undefined);
  });

  it('counts from when a job was made or changed that nobody has looked at since, for an hour', () => {
    const sinceMs = (changed: string) =>
      planAt(cronHpa({ specChangedAtMs: Date.parse(changed) }), NOW)[0]?.sinceMs;
    expect(sinceMs('2026-07-15T09:59:58Z')).to.equal(Date.parse('2026-07-15T09:59:58Z'));
    expect(sinceMs('2026-07-15T09:00:00Z')).to.equal(Date.parse('2026-07-15T09:00:00Z'));
    expect(sinceMs('2026-07-15T08:59:59Z'), 'an old object, as from a backup').to.equal(Date.parse(NOW));
    expect(sinceMs('2026-07-15T10:00:05Z'), "the API server's clock is ahead").to.equal(Date.parse(NOW));
  });

  it('counts from the last activation that was dealt with', () => {
    const [planned] = planAt(seen({ lastActivationTime: '2026-07-15T08:00:00Z' }), NOW);
    expect(planned?.sinceMs).to.equal(Date.parse('2026-07-15T08:00:00Z'));
  });

  it('begins again where the job was changed', () => {
    const before = seen({ lastActivationTime: '2026-07-15T08:00:00Z' });
    for (const change of [
      { targetSize: 4 },
      { schedule: '@hourly' },
      { timeZone: 'Asia/Tokyo' },
      { suspend: true },
    ]) {
      const [planned] = planAt({ ...before, spec: { ...before.spec, jobs: [job(change)] } }, NOW);
      expect(planned?.condition, JSON.stringify(change)).to.equal(undefined);
      expect(planned?.sinceMs).to.equal(Date.parse(NOW));
    }
  });

  it('begins again where the excluded days, the target or the usual time zone were changed', () => {
    const before = seen({ lastActivationTime: '2026-07-15T08:00:00Z' });
    const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'api' };
    for (const change of [{ excludeDates: ['2026-12-24'] }, { scaleTargetRef: target }]) {
      const [planned] = planAt({ ...before, spec: { ...before.spec, ...change } }, NOW);
      expect(planned?.condition, JSON.stringify(change)).to.equal(undefined);
    }
    const options = { nowMs: Date.parse(NOW), schedules: new Schedules() };
    const inZone = (timeZone: string) => planJobs(before, { ...options, timeZone })[0];
    expect(inZone('UTC')?.condition).to.not.equal(undefined);
    expect(inZone('Asia/Tokyo')).to.include({ condition: undefined, timeZone: 'Asia/Tokyo' });
  });

  it('heeds the excluded days of a job and of the object', () => {
    const nextOf = (changes: object, spec: object = {}) => {
      const [planned] = planAt(cronHpa({ spec: { jobs: [job(changes)], ...spec } }), NOW);
      return planned?.schedule?.next(planned.sinceMs);
    };
    expect(nextOf({})).to.equal(Date.parse('2026-07-16T08:00:00Z'));
    expect(nextOf({ excludeDates: ['2026-07-16'] })).to.equal(Date.parse('2026-07-17T08:00:00Z'));
    expect(nextOf({ excludeDates: ['2026-07-16'] }, { excludeDates: ['2026-07-17'] })).to.equal(
      Date.parse('2026-07-18T08:00:00Z'),
    );
  });

  it('goes on where the clock was put back by minutes, and begins again where it was by hours', () => {
    const ahead = (lastActivationTime: string) => planAt(seen({ lastActivationTime }), NOW)[0]?.sinceMs;
    expect(ahead('2026-07-15T10:30:00Z')).to.equal(Date.parse('2026-07-15T10:30:00Z'));
    expect(ahead('2026-07-15T11:00:00Z')).to.equal(Date.parse('2026-07-15T11:00:00Z'));
    expect(ahead('2026-07-15T11:00:01Z')).to.equal(Date.parse(NOW));
    expect(ahead('2036-07-15T10:00:00Z')).to.equal(Date.parse(NOW));
  });

  it('tells what it begins again from, so that it is not another moment at each look', () => {
    for (const told of ['2036-07-15T10:00:00Z', 'never']) {
      const [activated] = planAt(seen({ lastActivationTime: told }), NOW);
      expect(activated?.condition).to.include({
        lastActivationTime: NOW,
        submittedTime: '2026-07-14T10:00:00Z',
      });
      const [submitted] = planAt(seen({ submittedTime: told }), NOW);
      expect(submitted?.condition)
        .to.include({ submittedTime: NOW })
        .and.not.have.property('lastActivationTime');
    }
  });

  it('has a job that is to run once end with its first activation', () => {
    const runOnce = { spec: { jobs: [job({ runOnce: true })] } };
    expect(planAt(cronHpa(runOnce), NOW)[0]?.schedule).to.not.equal(undefined);
    const [ended] = planAt(seen({ lastActivationTime: '2026-07-15T08:00:00Z' }, runOnce), NOW);
    expect(ended?.schedule).to.equal(undefined);
    expect(ended?.problem).to.equal(undefined);
  });

  for (const [what, changes, problem] of [
    ['no schedule', { schedule: 'soon' }, 'Cannot read schedule "soon"'],
    [
      'an unknown time zone',
      { timeZone: 'Mars/Olympus' },
      'time zone "Mars/Olympus" is not in the IANA database',
    ],
    [
      'an excluded date that is none',
      { excludeDates: ['2026-02-30'] },
      'Cannot read excluded date "2026-02-30"',
    ],
    ['30 February', { schedule: '0 0 0 30 2 *' }, 'it is not due within the next five years'],
    ['all days excluded', { excludeDates: ['* * *'] }, 'it is not due within the next five years'],
  ] as const) {
    it(`says why a job with ${what} is never due`, () => {
      const [planned] = planAt(cronHpa({ spec: { jobs: [job(changes)] } }), NOW);
      expect(planned?.problem).to.contain(problem);
      expect(planned?.schedule).to.equal(undefined);
    });
  }

  it('refuses the second job of a name', () => {
    const problems = planAt(cronHpa({ spec: { jobs: [job(), job()] } }), NOW).map(({ problem }) => problem);
    expect(problems).to.deep.equal([undefined, 'another job has its name']);
  });

  it('goes on with the first job of a name, and has nothing new to tell of the second at each look', () => {
    const jobs = [job(), job({ schedule: '0 0 20 * * *', targetSize: 1 })];
    const object = seen({}, { spec: { jobs } });
    const planned = planAt(object, NOW);
    expect(planned[0]?.sinceMs).to.equal(Date.parse('2026-07-14T10:00:00Z'));
    const status = statusAfter(object, {
      nowMs: Date.parse(NOW),
      jobs: planned,
      missed: [],
      newJobId: () => 'another',
    });
    expect(status.jobs).to.deep.equal(object.status.jobs);
  });
});

/** An object that was reconciled a day before, with a condition changed. */
function seen(changes: object, parts: Parameters<typeof cronHpa>[0] = {}) {
  const object = cronHpa(parts);
  const nowMs = Date.parse('2026-07-14T10:00:00Z');
  const jobs = planAt(object, '2026-07-14T10:00:00Z');
  const status = statusAfter(object, { nowMs, jobs, missed: [], newJobId: () => 'id' });
  return {
    ...object,
    status: { ...status, jobs: status.jobs.map((condition) => ({ ...condition, ...changes })) },
  };
}
