import { expect } from 'chai';
import { type DueActivations, dueActivations, nextActivation } from '#lib/cron-hpa/plan/due-activations.ts';
import { job, jobsSince } from '#spec/support/cron-hpas.ts';

const MOST_COUNTED = 100;

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
    expect(told(dueActivations(jobs, { nowMs: Date.parse('2026-07-15T08:00:00.010Z') }))).to.deep.equal([
      'run up 2026-07-15T08:00:00.000Z',
    ]);
  });

  it('makes up for the latest activation alone, and tells those that it has overtaken', () => {
    const jobs = jobsSince('2026-07-13T07:00:00Z', UP, DOWN);
    expect(told(dueActivations(jobs, { nowMs: Date.parse('2026-07-15T08:30:00Z') }))).to.deep.equal([
      'run up 2026-07-15T08:00:00.000Z',
      'missed 2 of up, from 2026-07-13T08:00:00.000Z to 2026-07-14T08:00:00.000Z, overtaken',
      'missed 2 of down, from 2026-07-13T20:00:00.000Z to 2026-07-14T20:00:00.000Z, overtaken',
    ]);
  });

  it('does not make up for what is later than the deadline', () => {
    const jobs = jobsSince('2026-07-15T07:00:00Z', UP, DOWN);
    const at = (now: string) => told(dueActivations(jobs, { nowMs: Date.parse(now), deadlineMs: 60_000 }));
    expect(at('2026-07-15T08:01:00Z')).to.deep.equal(['run up 2026-07-15T08:00:00.000Z']);
    expect(at('2026-07-15T08:01:01Z')).to.deep.equal([
      'missed 1 of up, from 2026-07-15T08:00:00.000Z to 2026-07-15T08:00:00.000Z, too late',
    ]);
  });

  it('counts missed activations only so far', () => {
    const jobs = jobsSince('2026-07-15T07:00:00Z', job({ name: 'each-second', schedule: '* * * * * *' }));
    const { missed } = dueActivations(jobs, { nowMs: Date.parse('2026-07-15T09:00:00Z') });
    expect(missed[0]?.count).to.equal(MOST_COUNTED);
    expect(missed[0]?.lastMs).to.equal(Date.parse('2026-07-15T08:59:59Z'));
  });

  it('takes the job that stands later where two are due at once', () => {
    const jobs = jobsSince('2026-07-15T07:00:00Z', UP, { ...DOWN, schedule: UP.schedule });
    expect(told(dueActivations(jobs, { nowMs: Date.parse('2026-07-15T08:00:00Z') }))).to.deep.equal([
      'run down 2026-07-15T08:00:00.000Z',
      'missed 1 of up, from 2026-07-15T08:00:00.000Z to 2026-07-15T08:00:00.000Z, overtaken',
    ]);
  });

  it('takes the job that was meant later where the clock skipped the times of both', () => {
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

describe('nextActivation', () => {
  it('is the earliest of all jobs', () => {
    const next = nextActivation(
      jobsSince('2026-07-15T07:00:00Z', DOWN, UP),
      Date.parse('2026-07-15T07:00:00Z'),
    );
    expect(next?.planned.job.name).to.equal('up');
    expect(next?.atMs).to.equal(Date.parse('2026-07-15T08:00:00Z'));
  });

  it('is none where all jobs rest', () => {
    const jobs = jobsSince(
      '2026-07-15T07:00:00Z',
      job({ suspend: true }),
      job({ name: 'bad', schedule: 'soon' }),
    );
    expect(nextActivation(jobs, 0)).to.equal(undefined);
  });
});

function told({ run, missed }: DueActivations): string[] {
  const iso = (atMs: number) => new Date(atMs).toISOString();
  return [
    ...(run ? [`run ${run.planned.job.name} ${iso(run.atMs)}`] : []),
    ...missed.map(
      ({ planned, count, firstMs, lastMs, why }) =>
        `missed ${count} of ${planned.job.name}, from ${iso(firstMs)} to ${iso(lastMs)}, ${why}`,
    ),
  ];
}
