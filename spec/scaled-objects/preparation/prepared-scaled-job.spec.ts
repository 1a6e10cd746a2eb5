import { expect } from 'chai';
import { compileScaledJob } from '#lib/scaled-objects/preparation/prepared-scaled-job.ts';

const compiled = (spec: object = {}, annotations: object = {}) =>
  compileScaledJob({
    metadata: { namespace: 'shop', name: 'work', uid: 'u', generation: 1, annotations },
    spec: { jobTargetRef: {}, triggers: [{ type: 'redis', metadata: {} }], ...spec },
  } as never);

describe('compileScaledJob', () => {
  it('has the defaults of omitted fields', () => {
    expect(compiled()).to.deep.include({
      ...{ uid: 'u', generation: 1, namespace: 'shop', name: 'work', hasFormula: false },
      ...{ envSourceContainer: undefined, pollingMs: 30_000, strategy: {} },
      historyLimits: { successful: 100, failed: 100 },
      ...{ isRolloutGradual: false, propagationPolicy: 'Background' },
      statusFields: { triggersTypes: 'redis', authenticationsTypes: '' },
    });
  });

  it('has what the spec and the annotations give', () => {
    const found = compiled(
      {
        ...{ pollingInterval: 5, envSourceContainerName: 'side', scalingStrategy: { strategy: 'eager' } },
        ...{ successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 1 },
        rollout: { strategy: 'gradual', propagationPolicy: 'foreground' },
      },
      { 'autoscaling.keda.sh/paused': 'true' },
    );
    expect(found).to.deep.include({
      ...{ pollingMs: 5000, envSourceContainer: 'side', strategy: { strategy: 'eager' } },
      historyLimits: { successful: 0, failed: 1 },
      ...{ isRolloutGradual: true, propagationPolicy: 'Foreground' },
    });
    expect(found.annotations.isPaused).to.equal(true);
  });

  it('prefers the older field of the rollout strategy', () => {
    const isGradual = (rolloutStrategy: string, strategy: string) =>
      compiled({ rolloutStrategy, rollout: { strategy } }).isRolloutGradual;
    expect([isGradual('default', 'gradual'), isGradual('', 'gradual')]).to.deep.equal([false, true]);
  });

  for (const [min, max, bounds] of [
    [undefined, undefined, { min: 0, max: 100 }],
    [3, undefined, { min: 3, max: 100 }],
    [undefined, 7, { min: 0, max: 7 }],
    [3, 7, { min: 3, max: 4 }],
    [7, 7, { min: 7, max: 0 }],
    [8, 7, { min: 7, max: 7 }],
  ] as const)
    it(`bounds Jobs by ${JSON.stringify(bounds)} for ${min} and ${max}`, () => {
      expect(compiled({ minReplicaCount: min, maxReplicaCount: max }).bounds).to.deep.equal(bounds);
    });
});
