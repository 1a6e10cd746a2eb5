import { expect } from 'chai';
import { statusAfter } from '#lib/cron-hpa/cron-hpa-status.ts';
import {
  type DueActivations,
  dueActivations,
  dueActivationsInSteps,
  nextActivation,
  planJobs,
  planJobsInSteps,
} from '#lib/cron-hpa/planned-jobs.ts';
import { Schedules } from '#lib/schedule/parse-schedule.ts';
import { cronHpa, job, jobsSince, planAt } from '#spec/support/cron-hpas.ts';

const NOW = '2026-07-15T10:00:00Z';

describe('planJobs', () => {
  it('reads many excluded dates of a cached object once', () => {
    let reads = 0;
    const dates = () => Object.assign(Array(20).fill('2026-12-24'), { toJSON: () => ++reads });
    const jobs = ['up', 'down'].map((name) => job({ name, excludeDates: dates() }));
    const cached = cronHpa({ spec: { jobs, excludeDates: dates() } });
    const options = { nowMs: Date.parse(NOW), timeZone: 'UTC', schedules: new Schedules() };
    const hashes = () => planJobs(cached, options).map(({ specHash }) => specHash);
    const first = hashes();
    const readOnce = reads;
    expect(hashes()).to.deep.equal(first);
    expect(reads).to.equal(readOnce);
  });

  it('plans one job in each step', () => {
    const jobs = Array.from({ length: 5 }, (_, index) => job({ name: `job-${index}` }));
    const options = { nowMs: Date.parse(NOW), timeZone: 'UTC', schedules: new Schedules() };
    const steps = planJobsInSteps(cronHpa({ spec: { jobs } }), options);
    let count = 0;
    while (!steps.next().done) count++;
    expect(count).to.equal(5);
  });

  it('schedules a job from when it was first observed', () => {
    const [planned] = planAt(cronHpa(), NOW);
    expect(planned?.sinceMs).to.equal(Date.parse(NOW));
    expect(planned?.condition).to.equal(undefined);
  });

  it('schedules a job that nothing has observed from when it was created or changed, for an hour', () => {
    const sinceMs = (changed: string) =>
      planAt(cronHpa({ specChangedAtMs: Date.parse(changed) }), NOW)[0]?.sinceMs;
    expect(sinceMs('2026-07-15T09:59:58Z')).to.equal(Date.parse('2026-07-15T09:59:58Z'));
    expect(sinceMs('2026-07-15T09:00:00Z')).to.equal(Date.parse('2026-07-15T09:00:00Z'));
    expect(sinceMs('2026-07-15T08:59:59Z'), 'an old object, as from a backup').to.equal(Date.parse(NOW));
    expect(sinceMs('2026-07-15T10:00:05Z'), "the API server's clock is ahead").to.equal(Date.parse(NOW));
  });

  it('schedules from the last activation that was handled', () => {
    const [planned] = planAt(observed({ lastActivationTime: '2026-07-15T08:00:00Z' }), NOW);
    expect(planned?.sinceMs).to.equal(Date.parse('2026-07-15T08:00:00Z'));
  });

  it('starts over when the job has changed', () => {
    const before = observed({ lastActivationTime: '2026-07-15T08:00:00Z' });
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

  it('starts over when the excluded dates, the target or the default time zone have changed', () => {
    const before = observed({ lastActivationTime: '2026-07-15T08:00:00Z' });
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

  it('applies the excluded dates of the job and of the object', () => {
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

  it('continues when the clock was put back by minutes, and starts over when it was by hours', () => {
    const ahead = (lastActivationTime: string) => planAt(observed({ lastActivationTime }), NOW)[0]?.sinceMs;
    expect(ahead('2026-07-15T10:30:00Z')).to.equal(Date.parse('2026-07-15T10:30:00Z'));
    expect(ahead('2026-07-15T11:00:00Z')).to.equal(Date.parse('2026-07-15T11:00:00Z'));
    expect(ahead('2026-07-15T11:00:01Z')).to.equal(Date.parse(NOW));
    expect(ahead('2036-07-15T10:00:00Z')).to.equal(Date.parse(NOW));
  });

  it('records the time it starts over from, so that it is the same at each reconciliation', () => {
    for (const reported of ['2036-07-15T10:00:00Z', 'never']) {
      const [activated] = planAt(observed({ lastActivationTime: reported }), NOW);
      expect(activated?.condition).to.include({
        lastActivationTime: NOW,
        submittedTime: '2026-07-14T10:00:00Z',
      });
      const [submitted] = planAt(observed({ submittedTime: reported }), NOW);
      expect(submitted?.condition)
        .to.include({ submittedTime: NOW })
        .and.not.have.property('lastActivationTime');
    }
  });

  it('completes a job with @date after its activation', () => {
    const once = { spec: { jobs: [job({ schedule: '@date 2026-07-15 08:00:00' })] } };
    const [before] = planAt(cronHpa(once), '2026-07-15T07:59:59Z');
    expect(before?.nextMs).to.equal(Date.parse('2026-07-15T08:00:00Z'));
    const [ended] = planAt(observed({ lastActivationTime: '2026-07-15T08:00:00Z' }, once), NOW);
    expect([ended?.schedule, ended?.problem]).to.deep.equal([undefined, undefined]);
    expect(planAt(cronHpa(once), NOW)[0]?.problem).to.equal('not due within the next five years');
  });

  it('completes a job with runOnce after its first activation', () => {
    const runOnce = { spec: { jobs: [job({ runOnce: true })] } };
    expect(planAt(cronHpa(runOnce), NOW)[0]?.schedule).to.not.equal(undefined);
    const [ended] = planAt(observed({ lastActivationTime: '2026-07-15T08:00:00Z' }, runOnce), NOW);
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
    ['30 February', { schedule: '0 0 0 30 2 *' }, 'not due within the next five years'],
    ['all days excluded', { excludeDates: ['* * *'] }, 'not due within the next five years'],
  ] as const) {
    it(`explains why a job with ${what} is never due`, () => {
      const [planned] = planAt(cronHpa({ spec: { jobs: [job(changes)] } }), NOW);
      expect(planned?.problem).to.contain(problem);
      expect(planned?.schedule).to.equal(undefined);
    });
  }

  it('rejects the second job of a name', () => {
    const problems = planAt(cronHpa({ spec: { jobs: [job(), job()] } }), NOW).map(({ problem }) => problem);
    expect(problems).to.deep.equal([undefined, 'another job has the same name']);
  });

  it('continues the first job of a name, and reports the second once', () => {
    const jobs = [job(), job({ schedule: '0 0 20 * * *', targetSize: 1 })];
    const object = observed({}, { spec: { jobs } });
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

/** An object that was reconciled a day ago, with a changed condition. */
function observed(changes: object, parts: Parameters<typeof cronHpa>[0] = {}) {
  const object = cronHpa(parts);
  const nowMs = Date.parse('2026-07-14T10:00:00Z');
  const jobs = planAt(object, '2026-07-14T10:00:00Z');
  const status = statusAfter(object, { nowMs, jobs, missed: [], newJobId: () => 'id' });
  return {
    ...object,
    status: { ...status, jobs: status.jobs.map((condition) => ({ ...condition, ...changes })) },
  };
}

const MAX_COUNTED = 100;

const UP = job({ name: 'up', schedule: '0 0 8 * * *', targetSize: 9 });
const DOWN = job({ name: 'down', schedule: '0 0 20 * * *', targetSize: 2 });

describe('dueActivations', () => {
  it('finds nothing before a job is due', () => {
    const jobs = jobsSince('2026-07-15T08:00:00Z', UP, DOWN);
    expect(dueActivations(jobs, { nowMs: Date.parse('2026-07-15T19:59:59.999Z') })).to.deep.equal({
      missed: [],
    });
  });

  it('finds the job that is due', () => {
    const jobs = jobsSince('2026-07-15T07:00:00Z', UP, DOWN);
    expect(reported(dueActivations(jobs, { nowMs: Date.parse('2026-07-15T08:00:00.010Z') }))).to.deep.equal([
      'run up 2026-07-15T08:00:00.000Z',
    ]);
  });

  it('runs the latest activation only, and reports the superseded ones as missed', () => {
    const jobs = jobsSince('2026-07-13T07:00:00Z', UP, DOWN);
    expect(reported(dueActivations(jobs, { nowMs: Date.parse('2026-07-15T08:30:00Z') }))).to.deep.equal([
      'run up 2026-07-15T08:00:00.000Z',
      'missed 2 of up, from 2026-07-13T08:00:00.000Z to 2026-07-14T08:00:00.000Z, overtaken',
      'missed 2 of down, from 2026-07-13T20:00:00.000Z to 2026-07-14T20:00:00.000Z, overtaken',
    ]);
  });

  it('does not run an activation after the deadline', () => {
    const jobs = jobsSince('2026-07-15T07:00:00Z', UP, DOWN);
    const at = (now: string) =>
      reported(dueActivations(jobs, { nowMs: Date.parse(now), deadlineMs: 60_000 }));
    expect(at('2026-07-15T08:01:00Z')).to.deep.equal(['run up 2026-07-15T08:00:00.000Z']);
    expect(at('2026-07-15T08:01:01Z')).to.deep.equal([
      'missed 1 of up, from 2026-07-15T08:00:00.000Z to 2026-07-15T08:00:00.000Z, too late',
    ]);
  });

  it('counts missed activations up to a limit', () => {
    const jobs = jobsSince('2026-07-15T07:00:00Z', job({ name: 'each-second', schedule: '* * * * * *' }));
    const { missed } = dueActivations(jobs, { nowMs: Date.parse('2026-07-15T09:00:00Z') });
    expect(missed[0]?.count).to.equal(MAX_COUNTED);
    expect(missed[0]?.lastMs).to.equal(Date.parse('2026-07-15T08:59:59Z'));
  });

  it('runs the later job of the list when two are due at once', () => {
    const jobs = jobsSince('2026-07-15T07:00:00Z', UP, { ...DOWN, schedule: UP.schedule });
    expect(reported(dueActivations(jobs, { nowMs: Date.parse('2026-07-15T08:00:00Z') }))).to.deep.equal([
      'run down 2026-07-15T08:00:00.000Z',
      'missed 1 of up, from 2026-07-15T08:00:00.000Z to 2026-07-15T08:00:00.000Z, overtaken',
    ]);
  });

  it('runs the job with the later nominal time when the clock skipped the times of both', () => {
    const timeZone = 'Europe/Berlin';
    const late = job({ name: 'late', schedule: '0 45 2 * * *', timeZone });
    const early = job({ name: 'early', schedule: '0 15 2 * * *', timeZone });
    for (const jobs of [
      [late, early],
      [early, late],
    ]) {
      const due = dueActivations(jobsSince('2026-03-28T12:00:00Z', ...jobs), {
        nowMs: Date.parse('2026-03-29T01:00:00Z'),
      });
      expect(due.run?.planned.job.name).to.equal('late');
    }
  });
});

describe('dueActivationsInSteps', () => {
  it('searches once in each step', () => {
    const jobs = jobsSince('2026-07-15T07:00:00Z', job({ schedule: '0 0 * * * *' }), DOWN);
    const steps = dueActivationsInSteps(jobs, { nowMs: Date.parse('2026-07-16T07:30:00Z') });
    let count = 0;
    while (!steps.next().done) count++;
    expect(count).to.be.greaterThan(24); // the hourly activations before the last
  });
});

describe('nextActivation', () => {
  it('returns the earliest of all jobs', () => {
    const next = nextActivation(jobsSince('2026-07-15T07:00:00Z', DOWN, UP));
    expect(next?.planned.job.name).to.equal('up');
    expect(next?.atMs).to.equal(Date.parse('2026-07-15T08:00:00Z'));
  });

  it('returns undefined when all jobs are suspended', () => {
    const jobs = jobsSince(
      '2026-07-15T07:00:00Z',
      job({ suspend: true }),
      job({ name: 'bad', schedule: 'soon' }),
    );
    expect(nextActivation(jobs)).to.equal(undefined);
  });
});

function reported({ run, missed }: DueActivations): string[] {
  const iso = (atMs: number) => new Date(atMs).toISOString();
  return [
    ...(run ? [`run ${run.planned.job.name} ${iso(run.atMs)}`] : []),
    ...missed.map(
      ({ planned, count, firstMs, lastMs, why }) =>
        `missed ${count} of ${planned.job.name}, from ${iso(firstMs)} to ${iso(lastMs)}, ${why}`,
    ),
  ];
}
