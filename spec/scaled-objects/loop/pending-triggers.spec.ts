import { expect } from 'chai';
import { LoopMemories } from '#lib/scaled-objects/loop/loop-memory.ts';
import { step } from '#lib/scaled-objects/loop/step.ts';
import type { ObservedMetric } from '#lib/scaled-objects/values/metric-state.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

type State = ObservedMetric['state'];
const NOTHING_TO_DO: State = { kind: 'value', values: [0], isActive: false, atMs: 0 };
const SOMETHING_TO_DO: State = { kind: 'value', values: [9], isActive: true, atMs: 0 };
const PENDING: State = { kind: 'pending' };

describe('step, while a trigger has not told anything yet', () => {
  it('scales nothing down, though the others have nothing to do and the cooldown is over', async () => {
    for (const states of [[PENDING], [NOTHING_TO_DO, PENDING], [PENDING, NOTHING_TO_DO]]) {
      const { conditions, sizes } = await stepped({ replicas: 2, states });
      expect(sizes).to.deep.equal([]);
      expect(conditions).to.not.include('Active False');
    }
    expect((await stepped({ replicas: 2, states: [NOTHING_TO_DO, NOTHING_TO_DO] })).sizes).to.deep.equal([0]);
  });

  it('wakes its target where another trigger is active', async () => {
    const { conditions, sizes } = await stepped({ replicas: 0, states: [PENDING, SOMETHING_TO_DO] });
    expect(sizes).to.deep.equal([1]);
    expect(conditions).to.include('Active True');
  });

  it('wakes its target where that is forced', async () => {
    const annotations = { 'autoscaling.keda.sh/force-activation': 'true' };
    expect((await stepped({ replicas: 0, states: [PENDING], annotations })).sizes).to.deep.equal([1]);
  });
});

/** One look at an object whose target was made long ago and has so many replicas. */
async function stepped({
  replicas,
  states,
  annotations = {},
}: {
  readonly replicas: number;
  readonly states: readonly State[];
  readonly annotations?: Readonly<Record<string, string>>;
}) {
  const triggers = states.map((_, index) => ({
    index,
    type: 'spec',
    metrics: [{ metricName: `s${index}` }],
  }));
  const observed = triggers.map((trigger, index) => {
    const [metric] = trigger.metrics;
    return { trigger, metric, state: states[index], isPushed: false };
  });
  const sizes: number[] = [];
  const { status } = await step(
    {
      metadata: {
        ...{ name: 'web', namespace: 'default', annotations },
        creationTimestamp: '2020-01-01T00:00:00Z',
      },
      spec: { scaleTargetRef: { name: 'web' }, cooldownPeriod: 0, triggers: [] },
    } as never,
    {
      ...{ key: 'default/web', clock: new ManualClock(), memories: new LoopMemories(), plan: { triggers } },
      target: {
        replicas,
        resource: { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments' },
      },
      ...{ hpa: {}, own: { normal() {}, warning() {} }, workloads: { find: () => undefined } },
      plans: { observe: () => observed, lastActiveAtMs: () => undefined },
      scales: {
        get: async () => ({ specReplicas: replicas }),
        set: async (_: unknown, size: number) => sizes.push(size),
      },
      signal: new AbortController().signal,
    } as never,
  );
  return { sizes, conditions: (status.conditions ?? []).map((one) => `${one.type} ${one.status}`) };
}
