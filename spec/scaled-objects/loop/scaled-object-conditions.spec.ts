import { expect } from 'chai';
import { hpaActive, withConditions } from '#lib/scaled-objects/loop/scaled-object-conditions.ts';

describe('hpaActive', () => {
  for (const [what, conditions, told] of [
    ['nothing where the HPA says nothing', undefined, undefined],
    ['nothing where it does not say whether it scales', [{ type: 'AbleToScale', status: 'True' }], undefined],
    ['that it scales', [scaling('True', 'ValidMetricFound', 'ok')], 'True HPAActive HPA is actively scaling'],
    [
      'that it rests at zero',
      [scaling('False', 'ScalingDisabled', 'scaling is disabled since the replica count is zero')],
      'True ScalingDisabled scaling is disabled since the replica count is zero',
    ],
    [
      'why it does not scale',
      [scaling('False', 'FailedGetExternalMetric', 'no metrics')],
      'False FailedGetExternalMetric HPA is not actively scaling: no metrics',
    ],
    [
      'that it does not scale, for no reason',
      [scaling('False', '', 'x')],
      'False HPAMetricsUnavailable HPA is not actively scaling: x',
    ],
  ] as const)
    it(`tells ${what}`, () => {
      const found = hpaActive(conditions);
      expect(found && `${found.status} ${found.reason} ${found.message}`).to.equal(told);
    });
});

describe('withConditions', () => {
  it('has the four of the beginning, and what is found in their place', () => {
    const ready = { type: 'Ready', status: 'True', reason: 'r', message: 'm' } as const;
    expect(withConditions(undefined, [ready])).to.deep.equal([
      ready,
      { type: 'Active', status: 'Unknown' },
      { type: 'Fallback', status: 'Unknown' },
      { type: 'Paused', status: 'False' },
    ]);
  });
});

function scaling(status: string, reason: string, message: string) {
  return { type: 'ScalingActive', status, reason, message };
}
