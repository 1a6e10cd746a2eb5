import { expect } from 'chai';
import { followedHpa, sentHpa } from '#lib/hpa/followed/followed-hpa.ts';

const METADATA = { name: 'web', namespace: 'default', uid: 'u', resourceVersion: '7' };
const SPEC = {
  scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
  minReplicas: 2,
  maxReplicas: 9,
  metrics: [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
    { type: 'External', external: { metric: { name: 'q' }, target: { type: 'Value', value: '3' } } },
  ],
};
const STATUS = {
  currentReplicas: 2,
  desiredReplicas: 3,
  currentMetrics: [
    { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 70, averageValue: '7m' } } },
  ],
  conditions: [{ type: 'AbleToScale', status: 'True', reason: 'ReadyForNewScale' }],
};

describe('followedHpa', () => {
  it('reads of autoscaling/v1 what was sent as it', () => {
    const hpa = followedHpa({ metadata: { ...METADATA, annotations: { mine: 'x' } }, spec: SPEC }, 'v2');
    const sent = sentHpa(hpa, STATUS, 'v1');
    expect(sent.spec).to.deep.include({ targetCPUUtilizationPercentage: 50, maxReplicas: 9 });
    expect(sent.status).to.deep.equal({
      currentReplicas: 2,
      desiredReplicas: 3,
      currentCPUUtilizationPercentage: 70,
    });
    expect(followedHpa(sent, 'v1')).to.deep.equal({ ...hpa, status: STATUS });
  });

  it('takes an annotation of autoscaling/v1 that it cannot read for none', () => {
    const annotations = {
      'autoscaling.alpha.kubernetes.io/metrics': '[',
      'autoscaling.alpha.kubernetes.io/conditions': '{}',
    };
    const { metrics: _, ...spec } = SPEC;
    const object = {
      metadata: { ...METADATA, annotations },
      spec: { ...spec, targetCPUUtilizationPercentage: 60 },
      status: { desiredReplicas: 1 },
    };
    const hpa = followedHpa(object, 'v1');
    expect(hpa.spec.metrics).to.deep.equal([
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
      },
    ]);
    expect(hpa.status).to.deep.equal({ desiredReplicas: 1, currentMetrics: null });
  });

  it('tells who has written the status, in entries with and without its name', () => {
    const time = '2026-01-01T00:00:00Z';
    const managedFields = [
      { manager: 'a', time, subresource: 'status', fieldsV1: {} },
      { manager: 'b', time, fieldsV1: { 'f:status': {} } },
      { manager: 'c', time, fieldsV1: { 'f:spec': {} } },
      'nonsense',
    ];
    const { statusWriters } = followedHpa({ metadata: { ...METADATA, managedFields }, spec: SPEC }, 'v2');
    expect(statusWriters.map(({ manager }) => manager)).to.deep.equal(['a', 'b']);
  });
});
