import { expect } from 'chai';
import {
  CONDITIONS,
  checkFailed,
  hpaActive,
  replicasUnreadable,
  statusOf,
  withConditions,
} from '#lib/scaled-objects/loop/scaled-object-conditions.ts';

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

  it('keeps what is not told of, and has no empty reasons or messages', () => {
    const before = [
      { type: 'Active', status: 'True', reason: '', message: '' },
      { type: 'HPAActive', status: 'True', reason: 'r', message: 'm' },
    ] as const;
    expect(withConditions(before, []).slice(1)).to.deep.equal([
      { type: 'Active', status: 'True' },
      { type: 'Fallback', status: 'Unknown' },
      { type: 'Paused', status: 'False' },
      before[1],
    ]);
  });
});

describe('CONDITIONS', () => {
  it('say what KEDA says', () => {
    const told = Object.entries({ ...CONDITIONS, replicas: replicasUnreadable('refused') }).map(
      ([name, { type, status, reason, message }]) => `${name}: ${type} ${status} ${reason} ${message}`,
    );
    expect(told).to.deep.equal([
      'ready: Ready True ScaledObjectReady ScaledObject is defined correctly and is ready for scaling',
      'readyPaused: Ready True ScaledObjectReady ScaledObject is paused',
      'partialError: Ready Unknown PartialTriggerError Some triggers defined in ScaledObject are not working correctly',
      'triggerError: Ready False TriggerError Triggers defined in ScaledObject are not working correctly',
      'active: Active True ScalerActive Scaling is performed because triggers are active',
      'forced: Active True ScalerActive Scaling is performed because activation is being forced by annotation',
      'notActive: Active False ScalerNotActive Scaling is not performed because triggers are not active',
      'cooldown: Active False ScalerCooldown Scaler cooling down because triggers are not active',
      'activePaused: Active Unknown ScaledObjectPaused ScaledObject is paused',
      'unknownState: Active Unknown UnknownState ScaledObject check failed',
      'fallback: Fallback True FallbackExists At least one trigger is falling back on this scaled object',
      'noFallback: Fallback False NoFallbackFound No fallbacks are active on this scaled object',
      'paused: Paused True ScaledObjectPaused ScaledObject is paused',
      'unpaused: Paused False ScaledObjectUnpaused pause annotation removed for ScaledObject',
      'replicas: Ready False ErrorGettingCurrentReplicas Error getting current replicas count for ScaleTarget: refused',
    ]);
    expect(checkFailed('it is odd')).to.deep.equal([
      { type: 'Ready', status: 'False', reason: 'ScaledObjectCheckFailed', message: 'it is odd' },
      { type: 'Active', status: 'Unknown', reason: 'UnknownState', message: 'ScaledObject check failed' },
    ]);
  });
});

describe('statusOf', () => {
  it('is that of the condition of a type, and unknown without one', () => {
    const conditions = [
      { type: 'Ready', status: 'True' },
      { type: 'Active', status: 'False' },
    ] as const;
    expect(statusOf(conditions, 'Active')).to.equal('False');
    expect([statusOf(conditions, 'Paused'), statusOf(undefined, 'Ready')]).to.deep.equal([
      ...['Unknown', 'Unknown'],
    ]);
  });
});

function scaling(status: string, reason: string, message: string) {
  return { type: 'ScalingActive', status, reason, message };
}
