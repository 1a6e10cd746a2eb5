import { expect } from 'chai';
import {
  pauseConditions,
  tellFailures,
  tellFallback,
  tellUnpaused,
} from '#lib/scaled-objects/loop/tell-changes.ts';
import { LoopMemories } from '#lib/scaled-objects/scaling/reconcile-context.ts';

describe('tellFailures', () => {
  it('tells of a failure once while it lasts, and remembers nothing of a metric that is gone', () => {
    const memories = new LoopMemories();
    const told: string[] = [];
    const own = { normal: () => {}, warning: (_: string, message: string) => void told.push(message) };
    const look = (...metricNames: readonly string[]) => {
      const state = { kind: 'failing', error: new Error('it is down') };
      const observed = metricNames.map((metricName) => ({ metric: { metricName }, state }));
      tellFailures({ spec: {} } as never, observed as never, { own, memories, key: 'a' });
      return memories.of('a').failures.size;
    };
    expect(look('s0-a', 's1-b')).to.equal(2);
    expect(look('s0-a', 's1-b')).to.equal(2);
    expect(told).to.have.length(2);
    expect(look('s0-c')).to.equal(1);
    expect(look('s0-a')).to.equal(1);
    expect(told).to.have.length(4);
  });
});

describe('tellFailures, of an object', () => {
  const told: string[] = [];
  const own = { normal: () => {}, warning: (...words: string[]) => void told.push(words.join(' ')) };
  const memories = new LoopMemories();
  const look = (state: object, formula = '') => {
    told.splice(0);
    const observed = [{ metric: { metricName: 's0-a' }, state }];
    const spec = { advanced: { scalingModifiers: { formula } } };
    tellFailures({ spec } as never, observed as never, { own, memories, key: 'a' });
    return told.join();
  };

  it('tells of it again once it has changed, or ended, and by another word where there is a formula', () => {
    const failing = (message: string, kind = 'failing') => ({ kind, error: new Error(message) });
    expect(look(failing('it is down'))).to.equal('KEDAScalerFailed it is down');
    expect(look(failing('it is down', 'fallback'))).to.equal('');
    expect(look(failing('it is slow', 'fallback'))).to.equal('KEDAScalerFailed it is slow');
    for (const kind of ['value', 'pending']) {
      expect(look({ kind })).to.equal('');
      expect(look(failing('it is slow'))).to.equal('KEDAScalerFailed it is slow');
    }
    expect(look(failing('it is odd'), 'a + b')).to.equal('KEDAMetricSourceFailed it is odd');
  });
});

describe('tellUnpaused and tellFallback', () => {
  const IN = 'autoscaling.keda.sh/paused-scale-in';
  const OUT = 'autoscaling.keda.sh/paused-scale-out';
  const object = (annotations: object, type?: string, status = 'True') =>
    ({ metadata: { annotations }, status: { conditions: type ? [{ type, status }] : [] } }) as never;
  const told = (tell: (own: never) => void) => {
    const events: string[] = [];
    tell({ normal: (...words: string[]) => events.push(words.join(' ')) } as never);
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
    it(`tell ${what}`, () => {
      expect(told((own) => tellUnpaused(given, { own }))).to.equal(event);
      expect(pauseConditions(given)[0]?.status).to.equal(condition);
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
    it(`tell ${what}`, () => {
      expect(told((own) => tellFallback(given, { isFallingBack } as never, { own }))).to.equal(event);
    });
});
