import { expect } from 'chai';
import type { CronHpa, JobCondition } from '#lib/cron-hpa/cron-hpa.ts';
import { describeCronHpa } from '#lib/cron-hpa/debug/describe-cron-hpa.ts';
import type { Hpa } from '#lib/cron-hpa/target-conflicts.ts';
import { Schedules } from '#lib/schedule/schedules.ts';
import { cronHpa, hpa, job, planAt } from '#spec/support/cron-hpas.ts';

const NOW = '2026-07-15T07:00:00Z';

describe('describeCronHpa', () => {
  it('tells what is next, and that nothing else scales the target', () => {
    const told = described(cronHpa());
    expect(told.next).to.deep.equal({ job: 'morning', time: '2026-07-15T08:00:00.000Z' });
    expect(told.moves).to.deep.equal({
      ...{ what: 'replicas', of: 'web', why: 'nothing else scales Deployment "web"' },
    });
    expect(told.due).to.equal(undefined);
    expect(told.jobs[0]).to.deep.include({
      state: 'not seen yet by the leader',
      timeZone: 'UTC',
      targetSize: 3,
    });
  });

  it('tells which HPA is moved, and who else hinders', () => {
    expect(described(cronHpa(), { hpa: hpa({ name: 'web-hpa' }) }).moves).to.deep.equal({
      ...{ what: 'minReplicas', of: 'web-hpa', minReplicas: 2, maxReplicas: 5 },
      why: 'HorizontalPodAutoscaler "web-hpa" scales Deployment "web", and goes on above what jobs set',
    });
    const owned = hpa({ controller: { kind: 'ScaledObject', name: 'queue' } });
    expect(described(cronHpa(), { hpa: owned }).hindrance).to.include({ reason: 'OwnedByScaledObject' });
    const rival = cronHpa({ name: 'other' });
    expect(described(cronHpa(), { others: [rival] }).hindrance).to.include({ reason: 'TargetConflict' });
  });

  it('tells that minReplicas are to be moved of an HPA that is not there', () => {
    const nothing = (target: string) => ({
      what: 'nothing',
      why: `no HorizontalPodAutoscaler scales ${target}, whose minReplicas are to be moved`,
    });
    const annotations = { 'platform.stke/adjust-hpa-min': 'true' };
    expect(described(cronHpa({ annotations })).moves).to.deep.equal(nothing('Deployment "web"'));
    const scaleTargetRef = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', name: 'web' };
    expect(described(cronHpa({ spec: { scaleTargetRef } })).moves).to.deep.equal(
      nothing('HorizontalPodAutoscaler "web"'),
    );
    const no = { 'platform.stke/adjust-hpa-min': 'false' };
    expect(described(cronHpa({ annotations: no })).moves).to.include({ what: 'replicas' });
  });

  it('tells why a job is never due', () => {
    const jobs = [
      job({ name: 'text', schedule: 'x' }),
      job({ name: 'rests', suspend: true }),
      job({ name: 'daily' }),
    ];
    const [text, rests, daily] = described(cronHpa({ spec: { jobs } })).jobs;
    expect(text?.neverDueBecause).to.include('Cannot read schedule "x"');
    expect(rests?.neverDueBecause).to.equal('suspend is true');
    expect(daily).to.have.property('neverDueBecause', undefined);
    expect([text, rests, daily].map((one) => one?.next)).to.deep.equal([
      ...[undefined, undefined, '2026-07-15T08:00:00.000Z'],
    ]);
    const runOnce = { jobs: [job({ runOnce: true })] };
    const [planned] = planAt(cronHpa({ spec: runOnce }), NOW);
    const condition = conditionOf({ specHash: planned?.specHash ?? '' });
    const ended = described(
      cronHpa({ spec: runOnce, status: { jobs: [condition], scaleUpKeepWindow: false } }),
    );
    expect(ended.jobs[0]).to.include({ neverDueBecause: 'runOnce is true, and it has run', next: undefined });
    expect(ended.next).to.equal(undefined);
  });

  it('tells what is due and has not been done, and what was missed', () => {
    const [planned] = planAt(cronHpa(), NOW);
    const condition = conditionOf({ specHash: planned?.specHash ?? '' });
    const told = described(cronHpa({ status: { jobs: [condition], scaleUpKeepWindow: false } }));
    expect(told.due).to.deep.equal({ job: 'morning', time: '2026-07-14T08:00:00.000Z' });
    expect(told.missed).to.deep.equal([{ job: 'morning', count: 1, why: 'overtaken' }]);
    expect(told.jobs).to.deep.equal([
      {
        ...{ name: 'morning', schedule: '0 0 8 * * *', timeZone: 'UTC', targetSize: 3 },
        ...{ next: '2026-07-15T08:00:00.000Z', neverDueBecause: undefined, state: 'Succeed' },
        ...{ lastActivation: '2026-07-12T08:00:00Z', message: 'done' },
      },
    ]);
  });

  it('takes what is later than startingDeadlineSeconds for missed', () => {
    const jobs = [job()];
    const dueWith = (startingDeadlineSeconds: number) => {
      const spec = { jobs, startingDeadlineSeconds };
      const [planned] = planAt(cronHpa({ spec }), NOW);
      const condition = conditionOf({ specHash: planned?.specHash ?? '' });
      return described(cronHpa({ spec, status: { jobs: [condition], scaleUpKeepWindow: false } }));
    };
    expect(dueWith(23 * 3600).due).to.include({ job: 'morning' });
    const late = dueWith(23 * 3600 - 1);
    expect(late.due).to.equal(undefined);
    expect(late.missed).to.deep.equal([{ job: 'morning', count: 2, why: 'too late' }]);
  });
});

function described(object: CronHpa, { hpa, others = [] }: { hpa?: Hpa; others?: readonly CronHpa[] } = {}) {
  const plan = { nowMs: Date.parse(NOW), timeZone: 'UTC', schedules: new Schedules() };
  return describeCronHpa(object, { ...plan, hpa, others });
}

/** A job that was activated three days before. */
function conditionOf(changes: Pick<JobCondition, 'specHash'>): JobCondition {
  return {
    ...{ jobId: '1', name: 'morning', schedule: '0 0 8 * * *', state: 'Succeed', message: 'done' },
    ...{ lastProbeTime: '2026-07-12T08:00:00Z', submittedTime: '2026-07-10T08:00:00Z' },
    ...{ lastActivationTime: '2026-07-12T08:00:00Z' },
    ...changes,
  };
}
