import { expect } from 'chai';
import { defaultedSpec } from '#lib/hpa/defaulted-spec.ts';
import type { HpaSpec } from '#lib/hpa/objects/horizontal-pod-autoscaler.ts';

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

  it('keeps what is there', () => {
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

  it('takes null for absent', () => {
    const behavior = { scaleUp: { policies: null } } as unknown as NonNullable<HpaSpec['behavior']>;
    expect(defaultedSpec({ ...submitted, behavior }).behavior?.scaleUp?.policies).to.deep.equal(up);
  });
});
