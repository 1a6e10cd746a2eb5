import { expect } from 'chai';
import { readKedaAnnotations } from '#lib/scaled-objects/api/annotations.ts';
import { compileScaledObject } from '#lib/scaled-objects/preparation/prepared-scaled-object.ts';
import { ScaledObjectStates } from '#lib/scaled-objects/scaling/reconcile-context.ts';
import {
  CONDITIONS,
  checkFailed,
  describedStatus,
  hpaActive,
  pauseConditions,
  recordFailures,
  recordFallback,
  recordUnpaused,
  replicasUnreadable,
} from '#lib/scaled-objects/scaling/scaled-object-status.ts';

describe('hpaActive', () => {
  for (const [what, conditions, reported] of [
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
    it(`reports ${what}`, () => {
      const found = hpaActive(conditions);
      expect(found && `${found.status} ${found.reason} ${found.message}`).to.equal(reported);
    });
});

describe('CONDITIONS', () => {
  it('have the texts of KEDA', () => {
    const reported = Object.entries({ ...CONDITIONS, replicas: replicasUnreadable('refused') }).map(
      ([name, { type, status, reason, message }]) => `${name}: ${type} ${status} ${reason} ${message}`,
    );
    expect(reported).to.deep.equal([
      'ready: Ready True ScaledObjectReady ScaledObject is defined correctly and is ready for scaling',
      'readyPaused: Ready True ScaledObjectReady ScaledObject is paused',
      'partialError: Ready Unknown PartialTriggerError Some triggers defined in ScaledObject are not working correctly',
      'triggerError: Ready False TriggerError Triggers defined in ScaledObject are not working correctly',
      'active: Active True ScalerActive Scaling is performed because triggers are active',
      'notActive: Active False ScalerNotActive Scaling is not performed because triggers are not active',
      'forced: Active True ScalerActive Scaling is performed because activation is being forced by annotation',
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

function scaling(status: string, reason: string, message: string) {
  return { type: 'ScalingActive', status, reason, message };
}

const RESOURCE = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};

describe('describedStatus', () => {
  const described = (spec: object, status?: object, isRetargeted = false) => {
    const object = { metadata: { name: 'web' }, spec, ...(status && { status }) } as never;
    return describedStatus(object, {
      prepared: compileScaledObject(object),
      plan: {
        triggers: [
          { metrics: [{ metricName: 's0-a' }, { metricName: 's0-b' }] },
          { metrics: [], resource: { resource: 'cpu' } },
        ],
      } as never,
      ...{ target: { replicas: 4, resource: RESOURCE }, isRetargeted },
    });
  };
  const trigger = (type: string, name?: string) => ({ type, ...(name && { authenticationRef: { name } }) });
  const spec = {
    scaleTargetRef: { name: 'web' },
    triggers: [trigger('redis', 'a'), trigger('cpu'), trigger('redis', 'a'), trigger('cron', 'b')],
  };

  it('describes target, HPA, triggers and original replicas', () => {
    expect(described(spec)).to.deep.equal({
      scaleTargetKind: 'apps/v1.Deployment',
      scaleTargetGVKR: { group: 'apps', version: 'v1', kind: 'Deployment', resource: 'deployments' },
      ...{ originalReplicaCount: 4, externalMetricNames: ['s0-a', 's0-b'], resourceMetricNames: ['cpu'] },
      ...{ hpaName: 'keda-hpa-web', triggersTypes: 'redis,cpu,cron', authenticationsTypes: 'a,b' },
    });
  });

  it('retains earlier fields, except those of an ended pause, fallback or formula', () => {
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

describe('recordFailures', () => {
  it('reports a lasting failure once, and drops removed metrics', () => {
    const states = new ScaledObjectStates();
    const reported: string[] = [];
    const own = { normal: () => {}, warning: (_: string, message: string) => void reported.push(message) };
    const check = (...metricNames: readonly string[]) => {
      const state = { kind: 'failing', error: new Error('it is down') };
      const observed = metricNames.map((metricName) => ({ metric: { metricName }, state }));
      const prepared = { hasFormula: false } as never;
      recordFailures(observed as never, { prepared, own, states, key: 'a' });
      return states.of('a').failures.size;
    };
    expect(check('s0-a', 's1-b')).to.equal(2);
    expect(check('s0-a', 's1-b')).to.equal(2);
    expect(reported).to.have.length(2);
    expect(check('s0-c')).to.equal(1);
    expect(check('s0-a')).to.equal(1);
    expect(reported).to.have.length(4);
  });
});

describe('recordFailures, of an object', () => {
  const reported: string[] = [];
  const own = { normal: () => {}, warning: (...words: string[]) => void reported.push(words.join(' ')) };
  const states = new ScaledObjectStates();
  const check = (state: object, formula = '') => {
    reported.splice(0);
    const observed = [{ metric: { metricName: 's0-a' }, state }];
    const prepared = { hasFormula: formula !== '' } as never;
    recordFailures(observed as never, { prepared, own, states, key: 'a' });
    return reported.join();
  };

  it('reports it again after a change or a success, with another reason for a formula', () => {
    const failing = (message: string, kind = 'failing') => ({ kind, error: new Error(message) });
    expect(check(failing('it is down'))).to.equal('KEDAScalerFailed it is down');
    expect(check(failing('it is down', 'fallback'))).to.equal('');
    expect(check(failing('it is slow', 'fallback'))).to.equal('KEDAScalerFailed it is slow');
    for (const kind of ['value', 'pending']) {
      expect(check({ kind })).to.equal('');
      expect(check(failing('it is slow'))).to.equal('KEDAScalerFailed it is slow');
    }
    expect(check(failing('it is odd'), 'a + b')).to.equal('KEDAMetricSourceFailed it is odd');
  });
});

describe('recordUnpaused and recordFallback', () => {
  const IN = 'autoscaling.keda.sh/paused-scale-in';
  const OUT = 'autoscaling.keda.sh/paused-scale-out';
  const object = (annotations: object, type?: string, status = 'True') =>
    ({ metadata: { annotations }, status: { conditions: type ? [{ type, status }] : [] } }) as never;
  const reported = (report: (own: never) => void) => {
    const events: string[] = [];
    report({ normal: (...words: string[]) => events.push(words.join(' ')) } as never);
    return events.join();
  };

  for (const [what, given, event, condition] of [
    ['nothing without a pause', object({}), '', undefined],
    ['nothing after one', object({}, 'Paused', 'False'), '', undefined],
    [
      'a pause of one direction',
      object({ [IN]: 'true' }),
      'ScaledObjectPaused ScaledObject is paused',
      'True',
    ],
    ['one of the other', object({ [OUT]: 'true' }), 'ScaledObjectPaused ScaledObject is paused', 'True'],
    ['one that goes on once', object({ [OUT]: 'true' }, 'Paused'), '', 'True'],
    [
      'that a pause has ended',
      object({}, 'Paused'),
      'ScaledObjectUnpaused pause annotation removed for ScaledObject',
      'False',
    ],
  ] as const)
    it(`report ${what}`, () => {
      const annotations = readKedaAnnotations(given);
      const prepared = { annotations } as never;
      expect(reported((own) => recordUnpaused(given, { own, prepared }))).to.equal(event);
      expect(pauseConditions(given, annotations)[0]?.status).to.equal(condition);
    });

  for (const [what, given, isFallingBack, event] of [
    [
      'that a fallback begins',
      object({}),
      true,
      'ScaledObjectFallbackActivated ScaledObject fallback is active',
    ],
    ['nothing while it goes on', object({}, 'Fallback'), true, ''],
    [
      'that it ends',
      object({}, 'Fallback'),
      false,
      'ScaledObjectFallbackDeactivated ScaledObject fallback is no longer active',
    ],
    ['nothing where there is none', object({}, 'Fallback', 'False'), false, ''],
  ] as const)
    it(`report ${what}`, () => {
      expect(reported((own) => recordFallback(given, { isFallingBack } as never, { own }))).to.equal(event);
    });
});
