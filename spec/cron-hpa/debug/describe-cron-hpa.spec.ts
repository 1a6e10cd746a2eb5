import { expect } from 'chai';
import { describeCronHpa } from '#lib/cron-hpa/debug/describe-cron-hpa.ts';
import type { CronHpa } from '#lib/cron-hpa/objects/cron-hpa.ts';
import type { Hpa } from '#lib/cron-hpa/objects/hpa.ts';
import { Schedules } from '#lib/schedule/schedules.ts';
import { cronHpa, hpa, job, planAt } from '#spec/support/cron-hpas.ts';

const NOW = '2026-07-15T07:00:00Z';

describe('describeCronHpa', () => {
  it('tells what is next, and that nothing else scales the target', () => {
    const told = described(cronHpa());
    expect(told.next).to.deep.equal({ job: 'morning', time: '2026-07-15T08:00:00.000Z' });
    expect(told.moves).to.include({ what: 'replicas', of: 'web' });
    expect(told.due).to.equal(undefined);
    expect(told.jobs[0]).to.deep.include({
      state: 'not seen yet by the leader',
      timeZone: 'UTC',
      targetSize: 3,
    });
  });

  it('tells which HPA is moved, and who else hinders', () => {
    expect(described(cronHpa(), { hpa: hpa() }).moves).to.include({
      what: 'minReplicas',
      of: 'web',
      minReplicas: 2,
    });
    const owned = hpa({ controller: { kind: 'ScaledObject', name: 'queue' } });
    expect(described(cronHpa(), { hpa: owned }).hindrance).to.include({ reason: 'OwnedByScaledObject' });
    const rival = cronHpa({ name: 'other' });
    expect(described(cronHpa(), { others: [rival] }).hindrance).to.include({ reason: 'TargetConflict' });
  });

  it('tells that minReplicas are to be moved of an HPA that is not there', () => {
    const annotations = { 'platform.stke/adjust-hpa-min': 'true' };
    expect(described(cronHpa({ annotations })).moves).to.include({ what: 'nothing' });
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
  });

  it('tells what is due and has not been done, and what was missed', () => {
    const [planned] = planAt(cronHpa(), NOW);
    const condition = {
      ...{ jobId: '1', name: 'morning', schedule: '0 0 8 * * *', state: 'Succeed' as const, message: '' },
      ...{ lastProbeTime: '2026-07-12T08:00:00Z', submittedTime: '2026-07-10T08:00:00Z' },
      ...{ lastActivationTime: '2026-07-12T08:00:00Z', specHash: planned?.specHash ?? '' },
    } as const;
    const told = described(cronHpa({ status: { jobs: [condition], scaleUpKeepWindow: false } }));
    expect(told.due).to.deep.equal({ job: 'morning', time: '2026-07-14T08:00:00.000Z' });
    expect(told.missed).to.deep.equal([{ job: 'morning', count: 1, why: 'overtaken' }]);
  });
});

function described(object: CronHpa, { hpa, others = [] }: { hpa?: Hpa; others?: readonly CronHpa[] } = {}) {
  const plan = { nowMs: Date.parse(NOW), timeZone: 'UTC', schedules: new Schedules() };
  return describeCronHpa(object, { ...plan, hpa, others });
}
