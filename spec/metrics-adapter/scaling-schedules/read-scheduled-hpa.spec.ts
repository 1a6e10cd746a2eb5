import { expect } from 'chai';
import { readScheduledHpa } from '#lib/metrics-adapter/scaling-schedules/read-scheduled-hpa.ts';
import { externalMetric, hpaObject } from '#spec/support/scaled-hpas.ts';

describe('readScheduledHpa', () => {
  it('keeps what is scaled, and by which averages of which schedules', () => {
    const metrics = [
      externalMetric('rate'),
      scheduled({ kind: 'ScalingSchedule', name: 'nightly' }, '2500m'),
      scheduled({ kind: 'ClusterScalingSchedule', name: 'nightly' }, 10),
    ];
    expect(readScheduledHpa(hpaObject({ name: 'web', namespace: 'shop', metrics }))).to.deep.equal({
      ...{ namespace: 'shop', name: 'web', uid: '', maxReplicas: 10 },
      target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      schedules: [
        { kind: 'ScalingSchedule', key: 'shop/nightly', averageValue: 2.5 },
        { kind: 'ClusterScalingSchedule', key: 'nightly', averageValue: 10 },
      ],
    });
  });

  for (const [what, metrics] of [
    ['has none', []],
    ['asks for others', [externalMetric('rate')]],
    ['names an object of another kind', [scheduled({ kind: 'Service', name: 'a' }, '1')]],
    [
      'names one of another group',
      [scheduled({ kind: 'ScalingSchedule', name: 'a' }, '1', 'example.org/v1')],
    ],
    ['sets no average', [scheduled({ kind: 'ScalingSchedule', name: 'a' }, undefined)]],
    ['sets what is no quantity', [scheduled({ kind: 'ScalingSchedule', name: 'a' }, 'many')]],
  ] as const)
    it(`passes over an HPA that ${what}`, () => {
      expect(readScheduledHpa(hpaObject({ metrics }))).to.equal(undefined);
    });

  it('passes over what is no HPA', () => {
    const hpa = hpaObject({ metrics: [scheduled({ kind: 'ScalingSchedule', name: 'a' }, '1')] });
    expect(readScheduledHpa(hpa)).to.not.equal(undefined);
    expect(readScheduledHpa({ ...hpa, spec: { ...(hpa.spec as object), metrics: null } })).to.equal(
      undefined,
    );
    expect(readScheduledHpa({ ...hpa, metadata: { name: 'web' } })).to.equal(undefined);
  });
});

function scheduled(
  object: { readonly kind: string; readonly name: string },
  averageValue: string | number | undefined,
  apiVersion = 'zalando.org/v1',
): object {
  const target =
    averageValue === undefined ? { type: 'Value', value: '1' } : { type: 'AverageValue', averageValue };
  return {
    type: 'Object',
    object: { metric: { name: 'load' }, describedObject: { apiVersion, ...object }, target },
  };
}
