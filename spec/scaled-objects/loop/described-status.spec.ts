import { expect } from 'chai';
import { describedStatus } from '#lib/scaled-objects/loop/described-status.ts';

const RESOURCE = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};

describe('describedStatus', () => {
  const described = (spec: object, status?: object, isRetargeted = false) =>
    describedStatus({ metadata: { name: 'web' }, spec, ...(status && { status }) } as never, {
      plan: {
        triggers: [
          { metrics: [{ metricName: 's0-a' }, { metricName: 's0-b' }] },
          { metrics: [], resource: { resource: 'cpu' } },
        ],
      } as never,
      ...{ target: { replicas: 4, resource: RESOURCE }, isRetargeted },
    });
  const trigger = (type: string, name?: string) => ({ type, ...(name && { authenticationRef: { name } }) });
  const spec = {
    scaleTargetRef: { name: 'web' },
    triggers: [trigger('redis', 'a'), trigger('cpu'), trigger('redis', 'a'), trigger('cron', 'b')],
  };

  it('tells of target, HPA and triggers, and of the replicas that there were at first', () => {
    expect(described(spec)).to.deep.equal({
      scaleTargetKind: 'apps/v1.Deployment',
      scaleTargetGVKR: { group: 'apps', version: 'v1', kind: 'Deployment', resource: 'deployments' },
      ...{ originalReplicaCount: 4, externalMetricNames: ['s0-a', 's0-b'], resourceMetricNames: ['cpu'] },
      ...{ hpaName: 'keda-hpa-web', triggersTypes: 'redis,cpu,cron', authenticationsTypes: 'a,b' },
    });
  });

  it('keeps what was told before, but for what a pause, a fallback or a formula has left', () => {
    const before = {
      ...{ scaleTargetKind: 'apps/v1.Deployment', originalReplicaCount: 2, lastActiveTime: 't' },
      ...{ health: {}, pausedReplicaCount: 1, compositeScalerName: 'composite-metric' },
    };
    const { originalReplicaCount, lastActiveTime, ...rest } = described(spec, before);
    expect([originalReplicaCount, lastActiveTime]).to.deep.equal([2, 't']);
    expect(rest).to.not.have.any.keys('health', 'pausedReplicaCount', 'compositeScalerName');
    const formula = { ...spec, advanced: { scalingModifiers: { formula: 'a + b' } } };
    expect(described(formula, before).compositeScalerName).to.equal('composite-metric');
  });

  it('notes the replicas again of another target', () => {
    const before = { scaleTargetKind: 'apps/v1.StatefulSet', originalReplicaCount: 2 };
    expect(described(spec, before).originalReplicaCount).to.equal(4);
    const same = { scaleTargetKind: 'apps/v1.Deployment', originalReplicaCount: 2 };
    expect(described(spec, same, true).originalReplicaCount).to.equal(4);
    expect(described(spec, { scaleTargetKind: 'apps/v1.Deployment' }).originalReplicaCount).to.equal(4);
    const core = {
      ...spec,
      scaleTargetRef: { name: 'web', apiVersion: 'v1', kind: 'ReplicationController' },
    };
    expect(described(core).scaleTargetKind).to.equal('/v1.ReplicationController');
  });
});
