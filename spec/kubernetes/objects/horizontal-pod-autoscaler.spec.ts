import { expect } from 'chai';
import {
  defaultedSpec,
  type HpaSpec,
  type HpaStatus,
  isSameStatus,
} from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';

describe('defaultedSpec', () => {
  const submitted: HpaSpec = { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 5 };
  const up = [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ];
  const down = [{ type: 'Percent', value: 100, periodSeconds: 15 }];

  it('fills in a minimum and CPU', () => {
    expect(defaultedSpec(submitted)).to.deep.equal({
      ...submitted,
      minReplicas: 1,
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
        },
      ],
    });
    expect(defaultedSpec({ ...submitted, metrics: [] }).metrics).to.have.length(1);
  });

  it('preserves existing values', () => {
    const spec = { ...submitted, minReplicas: 0, metrics: defaultedSpec(submitted).metrics ?? [] };
    expect(defaultedSpec(spec)).to.deep.equal(spec);
  });

  it('fills in both directions of a behavior, field by field', () => {
    expect(defaultedSpec({ ...submitted, behavior: {} }).behavior).to.deep.equal({
      scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: up },
      scaleDown: { selectPolicy: 'Max', policies: down },
    });
    const behavior = { scaleUp: { selectPolicy: 'Disabled' }, scaleDown: { stabilizationWindowSeconds: 0 } };
    expect(defaultedSpec({ ...submitted, behavior }).behavior).to.deep.equal({
      scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: 'Disabled', policies: up },
      scaleDown: { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: down },
    });
  });

  it('treats null as absent', () => {
    const behavior = { scaleUp: { policies: null } } as unknown as NonNullable<HpaSpec['behavior']>;
    expect(defaultedSpec({ ...submitted, behavior }).behavior?.scaleUp?.policies).to.deep.equal(up);
  });
});

describe('isSameStatus', () => {
  const status: HpaStatus = {
    currentReplicas: 3,
    desiredReplicas: 3,
    lastScaleTime: '2026-01-01T00:00:00Z',
    currentMetrics: [
      {
        type: 'External',
        external: {
          metric: { name: 'q', selector: { matchLabels: { value: '1' } } },
          current: { averageValue: '1500m' },
        },
      },
    ],
    conditions: [{ type: 'AbleToScale', status: 'True', reason: 'R', message: 'm' }],
  };
  const changed = (change: (copy: Record<string, never>) => void): HpaStatus => {
    const copy = structuredClone(status);
    change(copy as unknown as Record<string, never>);
    return copy;
  };

  it('compares quantities by amount and times by moment', () => {
    const text = JSON.stringify(status);
    expect(isSameStatus(status, JSON.parse(text.replace('1500m', '1.5')))).to.equal(true);
    expect(isSameStatus(status, JSON.parse(text.replace('1500m', '1501m')))).to.equal(false);
    expect(isSameStatus(status, JSON.parse(text.replace('1500m', 'odd')))).to.equal(false);
    expect(isSameStatus(status, JSON.parse(text.replace('00:00Z', '00:00.000Z')))).to.equal(true);
    expect(isSameStatus(status, JSON.parse(text.replace('00:00Z', '00:01Z')))).to.equal(false);
    expect(isSameStatus(status, JSON.parse(text.replace('"value":"1"', '"value":"1000m"')))).to.equal(false);
  });

  it('treats an empty list as absent, but not a failed metric', () => {
    const none = { desiredReplicas: 0, currentMetrics: null };
    expect(isSameStatus(undefined, { currentReplicas: 0, ...none, conditions: [] })).to.equal(true);
    expect(isSameStatus({ desiredReplicas: 0, currentMetrics: [] }, none)).to.equal(true);
    expect(isSameStatus({ desiredReplicas: 0, currentMetrics: [{ type: '' }] }, none)).to.equal(false);
    expect(isSameStatus(none, { desiredReplicas: 0, currentMetrics: [{ type: '' }] })).to.equal(false);
  });

  it('distinguishes an absent utilization from 0', () => {
    const withCurrent = (current: object): HpaStatus => ({
      ...{ desiredReplicas: 1, currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current } }] },
    });
    expect(isSameStatus(withCurrent({ averageUtilization: 0 }), withCurrent({}))).to.equal(false);
  });

  it('detects additional, missing and different fields', () => {
    expect(isSameStatus(status, structuredClone(status))).to.equal(true);
    const others = [
      changed((copy) => delete copy.lastScaleTime),
      changed((copy) => Object.assign(copy, { desiredReplicas: 4 })),
      changed((copy) => Object.assign(copy, { conditions: [] })),
      changed((copy) => Object.assign(copy, { observedGeneration: 2 })),
    ];
    for (const other of others) {
      expect(isSameStatus(status, other)).to.equal(false);
      expect(isSameStatus(other, status)).to.equal(false);
    }
  });
});
