import { expect } from 'chai';
import { type CronHpa, type CronHpaStatus, formatStatus, readCronHpa } from '#lib/cron-hpa/cron-hpa.ts';
import {
  eventsOf,
  failureMessage,
  type Outcome,
  referenceTo,
  type StatusInput,
  statusAfter,
  successMessage,
} from '#lib/cron-hpa/cron-hpa-status.ts';
import { dueActivations } from '#lib/cron-hpa/planned-jobs.ts';
import { cronHpa, job, planAt } from '#spec/support/cron-hpas.ts';

const UP = job({ name: 'up', schedule: '0 0 8 * * *', targetSize: 9 });
const DOWN = job({ name: 'down', schedule: '0 0 20 * * *', targetSize: 2 });

describe('statusAfter', () => {
  it('submits a job, with an id', () => {
    const { jobs, ready, nextScheduleTime } = statusOf(cronHpa(), '2026-07-15T07:00:00.900Z');
    expect(jobs).to.have.length(1);
    expect(jobs[0]).to.deep.include({
      ...{ jobId: 'id-1', name: 'morning', schedule: '0 0 8 * * *', state: 'Submitted', message: '' },
      ...{ lastProbeTime: '2026-07-15T07:00:00Z', submittedTime: '2026-07-15T07:00:00Z' },
    });
    expect(ready).to.deep.include({ type: 'Ready', status: 'True', reason: 'Scheduled' });
    expect(ready?.message).to.equal('1 of 1 jobs are scheduled');
    expect(nextScheduleTime).to.equal('2026-07-15T08:00:00Z');
  });

  it('returns an equal status while nothing happens', () => {
    const first = settled(cronHpa(), '2026-07-15T07:00:00Z');
    expect(statusOf(first, '2026-07-15T07:30:00Z')).to.deep.equal(first.status);
  });

  it('returns the same status after a round trip through formatStatus', () => {
    const first = settled(cronHpa(), '2026-07-15T07:00:00Z');
    const { namespace, name, uid, resourceVersion, spec } = first;
    const sent = {
      metadata: { namespace, name, uid, resourceVersion },
      spec,
      status: formatStatus(first.status),
    };
    expect(readCronHpa(JSON.parse(JSON.stringify(sent)))?.status).to.deep.equal(
      JSON.parse(JSON.stringify(first.status)),
    );
  });

  it('retains the id of a changed job, and gives a renamed one a new id', () => {
    const first = settled(cronHpa(), '2026-07-15T07:00:00Z');
    const edited = { ...first, spec: { ...first.spec, jobs: [job({ targetSize: 7 })] } };
    expect(statusOf(edited, '2026-07-15T08:30:00Z').jobs[0]).to.deep.include({
      ...{ jobId: 'id-1', state: 'Submitted', submittedTime: '2026-07-15T08:30:00Z' },
    });
    const renamed = { ...first, spec: { ...first.spec, jobs: [job({ name: 'dawn' })] } };
    expect(statusOf(renamed, '2026-07-15T08:30:00Z', { newJobId: () => 'id-2' }).jobs).to.deep.equal([
      {
        ...first.status.jobs[0],
        jobId: 'id-2',
        name: 'dawn',
        ...submittedAt('2026-07-15T08:30:00Z'),
        specHash: hashOf(renamed),
      },
    ]);
  });

  it('leaves the window open after a job has scaled up until one scales down', () => {
    let object = settled(cronHpa({ spec: { jobs: [UP, DOWN] } }), '2026-07-15T07:00:00Z');
    expect(object.status.scaleUpKeepWindow).to.equal(false);
    object = settled(object, '2026-07-15T08:00:00Z', { change: 7 });
    expect(object.status.scaleUpKeepWindow).to.equal(true);
    expect(object.status.lastResult).to.equal('Succeed up');
    object = settled(object, '2026-07-15T20:00:00Z', { change: 0 });
    expect(object.status.scaleUpKeepWindow).to.equal(true);
    object = settled(object, '2026-07-16T08:00:00Z', { change: -7 });
    expect(object.status.scaleUpKeepWindow).to.equal(false);
  });

  it('leaves a failed activation due, and reports it once', () => {
    const first = settled(cronHpa(), '2026-07-15T07:00:00Z');
    const failed = settled(first, '2026-07-15T08:00:00Z', { state: 'Failed', message: 'no such target' });
    expect(failed.status.jobs[0]).to.deep.include({ state: 'Failed', message: 'no such target' });
    expect(failed.status.jobs[0]?.lastActivationTime).to.equal(undefined);
    const again = settled(failed, '2026-07-15T08:05:00Z', { state: 'Failed', message: 'no such target' });
    expect(again.status).to.deep.equal(failed.status);
    const made = settled(again, '2026-07-15T08:10:00Z');
    expect(made.status.jobs[0]).to.deep.include({
      state: 'Succeed',
      lastActivationTime: '2026-07-15T08:00:00Z',
    });
  });

  it('reports a missed activation once', () => {
    const first = settled(cronHpa({ spec: { jobs: [UP, DOWN] } }), '2026-07-15T07:00:00Z');
    const late = settled(first, '2026-07-15T20:00:01Z');
    expect(late.status.jobs[0]).to.deep.include({
      state: 'Failed',
      message:
        'cron hpa job up missed its activation of 2026-07-15 08:00:00: a later activation was due by then',
      lastActivationTime: '2026-07-15T08:00:00Z',
    });
    expect(late.status.jobs[1]).to.deep.include({ state: 'Succeed' });
    expect(statusOf(late, '2026-07-15T20:00:02Z')).to.deep.equal(late.status);
  });

  it('reports when the first and the last of several missed activations were due', () => {
    const object = settled(cronHpa({ spec: { jobs: [UP, DOWN] } }), '2026-07-13T07:00:00Z');
    expect(statusOf(object, '2026-07-15T08:00:00Z').jobs[1]?.message).to.equal(
      'cron hpa job down missed 2 activations from 2026-07-13 20:00:00 to 2026-07-14 20:00:00: a later activation was due by then',
    );
  });

  it('does not count suspended jobs as scheduled', () => {
    const object = cronHpa({ spec: { jobs: [UP, { ...DOWN, suspend: true }] } });
    expect(statusOf(object, '2026-07-15T07:00:00Z').ready?.message).to.equal('1 of 2 jobs are scheduled');
  });

  it('reports an annotation without effect, but a blocker and an invalid job first', () => {
    const withValue = (value: string, jobs = [job()]) =>
      cronHpa({ annotations: { 'platform.stke/adjust-hpa-min': value }, spec: { jobs } });
    const readyOf = (object: CronHpa, input: Partial<StatusInput> = {}) =>
      statusOf(object, '2026-07-15T07:00:00Z', input).ready;
    for (const value of ['True', '', 'no', 'constructor'])
      expect(readyOf(withValue(value)), value).to.deep.include({
        ...{ status: 'False', reason: 'InvalidAdjustHpaMin' },
        message: 'Annotation platform.stke/adjust-hpa-min has no effect: it must be one of true, false, hold',
      });
    for (const value of ['true', 'false', 'hold'])
      expect(readyOf(withValue(value)), value).to.include({ status: 'True', reason: 'Scheduled' });
    const isInvalid = withValue('no', [job({ schedule: 'soon' })]);
    expect(readyOf(isInvalid)).to.include({ reason: 'InvalidJobs' });
    const blocker = { reason: 'TargetConflict', message: 'so' } as const;
    expect(readyOf(isInvalid, { blocker })).to.include({ reason: 'TargetConflict' });
  });

  it('escapes control characters in the name and schedule of a job', () => {
    const name = 'up\u001b[2J\n';
    const bad = settled(
      cronHpa({ spec: { jobs: [job({ name, schedule: 'soon\u0007' })] } }),
      '2026-07-15T07:00:00Z',
    );
    const reported = [bad.status.ready?.message, bad.status.jobs[0]?.message].join(' ');
    expect(reported)
      .to.contain('Job "up\\u001b[2J\\n" is not scheduled')
      .and.not.match(/\p{Cc}/u);
    expect(bad.status.jobs[0]?.name, 'by which the job is known').to.equal(name);
  });

  it('names the job that can never be due, and changes the transition time only with the status', () => {
    const bad = cronHpa({ spec: { jobs: [job({ schedule: 'soon' })] } });
    const first = settled(bad, '2026-07-15T07:00:00Z');
    expect(first.status.ready).to.deep.include({ status: 'False', reason: 'InvalidJobs' });
    expect(first.status.ready?.message).to.match(
      /^Job "morning" is not scheduled: Cannot read schedule "soon"/,
    );
    const blocker = { reason: 'TargetConflict', message: 'so' } as const;
    const later = statusOf(first, '2026-07-15T08:00:00Z', { blocker });
    expect(later.ready).to.deep.include({
      reason: 'TargetConflict',
      lastTransitionTime: '2026-07-15T07:00:00Z',
    });
    const mended = { ...first, spec: cronHpa().spec };
    expect(statusOf(mended, '2026-07-15T09:00:00Z').ready).to.deep.include({
      ...{ status: 'True', lastTransitionTime: '2026-07-15T09:00:00Z' },
    });
  });
});

/** The object after a reconciliation that runs due activations. */
function settled(object: CronHpa, now: string, result: Partial<Outcome> = {}): CronHpa {
  return { ...object, status: statusOf(object, now, {}, result) };
}

function statusOf(
  object: CronHpa,
  now: string,
  input: Partial<StatusInput> = {},
  result: Partial<Outcome> = {},
) {
  const nowMs = Date.parse(now);
  const jobs = planAt(object, now);
  const { run, missed } = dueActivations(jobs, { nowMs });
  const outcome = run && ({ ...run, state: 'Succeed', message: 'done', change: 1, ...result } as const);
  return statusAfter(object, { nowMs, jobs, outcome, missed, newJobId: () => 'id-1', ...input });
}

function submittedAt(time: string) {
  return { state: 'Submitted', submittedTime: time, lastProbeTime: time, message: '' };
}

function hashOf(object: CronHpa): string {
  return planAt(object, '2026-07-15T08:30:00Z')[0]?.specHash ?? '';
}

const TIMES = {
  atMs: Date.parse('2019-12-18T15:00:00Z'),
  nextMs: Date.parse('2019-12-18T15:07:00Z'),
  timeZone: 'Asia/Shanghai',
};

describe('successMessage', () => {
  it('has the format of TKE', () => {
    expect(
      successMessage({
        job: 'scale-down',
        namespace: 'default',
        target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        adjustType: 'scale replicas',
        current: 3,
        desired: 3,
        ...TIMES,
      }),
    ).to.equal(
      'cron hpa job scale-down executed successfully. current scale (namespace:default;kind: Deployment;name: web) ' +
        'replicas:3, desired scale replicas:3,adjustType:[scale replicas]. time:2019-12-18 23:00:00, next:2019-12-18 23:07:00',
    );
  });
});

describe('messages of activations', () => {
  it('have no control characters', () => {
    const reported = failureMessage({ job: 'up\u001b[2J', reason: 'no\u0007', ...TIMES });
    expect(reported).to.match(/^cron hpa job up\\u001b\[2J failed to execute, because of no\\u0007\. time:/);
  });
});

describe('failureMessage', () => {
  it('names the cause, and says when there is no next activation', () => {
    expect(failureMessage({ job: 'once', reason: 'no such target', ...TIMES, nextMs: undefined })).to.equal(
      'cron hpa job once failed to execute, because of no such target. time:2019-12-18 23:00:00, next:none',
    );
  });
});

const NOW = '2026-07-15T08:00:00Z';
const MESSAGE = 'cannot scale deployments.apps "web"';
const ready = (reason: string, message = MESSAGE): CronHpaStatus['ready'] => ({
  ...{ type: 'Ready', status: reason === 'Scheduled' ? 'True' : 'False', reason, message },
  ...{ observedGeneration: 1, lastTransitionTime: NOW },
});

describe('eventsOf', () => {
  const object = cronHpa();
  const [planned] = planAt(object, NOW);
  if (!planned) throw new Error('there is a job');
  const quiet = { status: object.status, outcome: undefined, missed: [] };
  const outcomeOf = (changes: Partial<Outcome>): Outcome => ({
    ...{ planned, atMs: Date.parse(NOW), state: 'Succeed', message: 'from 1 to 3', change: 2 },
    ...changes,
  });

  it('returns nothing when nothing happened', () => {
    expect(eventsOf(object, quiet)).to.deep.equal([]);
    expect(eventsOf(object, { ...quiet, outcome: outcomeOf({ change: 0 }) })).to.deep.equal([]);
  });

  it('reports a job that has scaled', () => {
    expect(eventsOf(object, { ...quiet, outcome: outcomeOf({}) })).to.deep.equal([
      { type: 'Normal', reason: 'Scaled', message: 'from 1 to 3' },
    ]);
  });

  it('reports a failed job with its time, once for each cause', () => {
    const message = `${MESSAGE} at eight`;
    const outcome = outcomeOf({ state: 'Failed', message, cause: MESSAGE });
    const reportedAfter = (before: CronHpaStatus['ready']) =>
      eventsOf(cronHpa({ status: { ready: before } }), {
        ...{ ...quiet, outcome },
        status: { ...object.status, ready: ready('ScalingFailed') },
      });
    const failed = [{ type: 'Warning', reason: 'ScalingFailed', message }];
    expect(reportedAfter(undefined)).to.deep.equal(failed);
    expect(reportedAfter(ready('ScalingFailed'))).to.deep.equal([]);
    expect(reportedAfter(ready('ScalingFailed', 'another'))).to.deep.equal(failed);
    expect(reportedAfter(ready('Scheduled', '1 of 1 jobs are scheduled'))).to.deep.equal(failed);
  });

  it('reports missed activations with the reason', () => {
    const atMs = Date.parse(NOW);
    const missed = [{ planned, count: 1, firstMs: atMs, lastMs: atMs, why: 'too late' } as const];
    expect(eventsOf(object, { ...quiet, missed })).to.deep.equal([
      {
        type: 'Warning',
        reason: 'ScheduleMissed',
        message:
          'cron hpa job morning missed its activation of 2026-07-15 08:00:00: startingDeadlineSeconds have passed',
      },
    ]);
  });

  it('reports once what blocks the object', () => {
    const eventsAt = (next: CronHpaStatus['ready'], before = object) =>
      eventsOf(before, { ...quiet, status: { ...object.status, ready: next } });
    expect(eventsAt(ready('TargetConflict'))).to.deep.equal([
      { type: 'Warning', reason: 'TargetConflict', message: MESSAGE },
    ]);
    expect(
      eventsAt(ready('TargetConflict'), cronHpa({ status: { ready: ready('InvalidJobs') } })),
    ).to.deep.equal([]);
    expect(eventsAt(ready('Scheduled'))).to.deep.equal([]);
  });
});

describe('referenceTo', () => {
  it('names the object with its current resource version', () => {
    expect(referenceTo(cronHpa())).to.deep.equal({
      ...{ apiVersion: 'autoscaling.stke.com/v1beta1', kind: 'CronHorizontalPodAutoscaler' },
      ...{ namespace: 'default', name: 'web', uid: 'uid-1', resourceVersion: '1' },
    });
  });
});
