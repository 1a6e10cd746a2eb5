import { expect } from 'chai';
import type { CronHpaStatus } from '#lib/cron-hpa/cron-hpa.ts';
import type { Outcome } from '#lib/cron-hpa/statuses/next-status.ts';
import { eventsOf, referenceTo } from '#lib/cron-hpa/told/cron-hpa-events.ts';
import { cronHpa, planAt } from '#spec/support/cron-hpas.ts';

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

  it('is silent where nothing happened', () => {
    expect(eventsOf(object, quiet)).to.deep.equal([]);
    expect(eventsOf(object, { ...quiet, outcome: outcomeOf({ change: 0 }) })).to.deep.equal([]);
  });

  it('tells of a job that scaled', () => {
    expect(eventsOf(object, { ...quiet, outcome: outcomeOf({}) })).to.deep.equal([
      { type: 'Normal', reason: 'Scaled', message: 'from 1 to 3' },
    ]);
  });

  it('tells of a job that failed and when, once for each cause', () => {
    const message = `${MESSAGE} at eight`;
    const outcome = outcomeOf({ state: 'Failed', message, cause: MESSAGE });
    const toldAfter = (before: CronHpaStatus['ready']) =>
      eventsOf(cronHpa({ status: { ready: before } }), {
        ...{ ...quiet, outcome },
        status: { ...object.status, ready: ready('ScalingFailed') },
      });
    const failed = [{ type: 'Warning', reason: 'ScalingFailed', message }];
    expect(toldAfter(undefined)).to.deep.equal(failed);
    expect(toldAfter(ready('ScalingFailed'))).to.deep.equal([]);
    expect(toldAfter(ready('ScalingFailed', 'another'))).to.deep.equal(failed);
    expect(toldAfter(ready('Scheduled', '1 of 1 jobs are scheduled'))).to.deep.equal(failed);
  });

  it('tells of activations that were missed, and how they were', () => {
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

  it('tells once what keeps the object from its work', () => {
    const toldOf = (next: CronHpaStatus['ready'], before = object) =>
      eventsOf(before, { ...quiet, status: { ...object.status, ready: next } });
    expect(toldOf(ready('TargetConflict'))).to.deep.equal([
      { type: 'Warning', reason: 'TargetConflict', message: MESSAGE },
    ]);
    expect(
      toldOf(ready('TargetConflict'), cronHpa({ status: { ready: ready('InvalidJobs') } })),
    ).to.deep.equal([]);
    expect(toldOf(ready('Scheduled'))).to.deep.equal([]);
  });
});

describe('referenceTo', () => {
  it('names the object with its version of the moment', () => {
    expect(referenceTo(cronHpa())).to.deep.equal({
      ...{ apiVersion: 'autoscaling.stke.com/v1beta1', kind: 'CronHorizontalPodAutoscaler' },
      ...{ namespace: 'default', name: 'web', uid: 'uid-1', resourceVersion: '1' },
    });
  });
});
