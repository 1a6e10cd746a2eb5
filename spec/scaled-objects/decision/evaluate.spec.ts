import { expect } from 'chai';
import { evaluate } from '#lib/scaled-objects/decision/evaluate.ts';
import type { Fallback } from '#lib/scaled-objects/objects/scaled-object.ts';
import type { MetricState } from '#lib/scaled-objects/values/metric-state.ts';

const error = new Error('connection refused');
const ACTIVE: MetricState = { kind: 'value', values: [9], isActive: true, atMs: 0 };
const IDLE: MetricState = { kind: 'value', values: [0], isActive: false, atMs: 0 };
const PENDING: MetricState = { kind: 'pending' };
const FAILING: MetricState = { kind: 'failing', error };
const LOST: MetricState = { kind: 'fallback', error };

describe('evaluate', () => {
  it('is active where one trigger is, and tells of each that is known', () => {
    expect(evaluated([IDLE, ACTIVE, PENDING])).to.deep.equal({
      ...{ isActive: true, hasError: false, isPending: true, isFallingBack: false },
      activeMetrics: ['s1'],
      triggersActivity: { s0: { isActive: false }, s1: { isActive: true } },
    });
    expect(evaluated([IDLE, FAILING])).to.include({ isActive: false, hasError: true, isPending: false });
  });

  it('is active by its fallback where that asks for replicas, and by none that cannot be used', () => {
    const fallback = { failureThreshold: 3, replicas: 2 };
    const found = evaluated([LOST], { fallback });
    expect(found).to.include({ isActive: true, isFallingBack: true, hasError: false });
    expect(evaluated([LOST], { fallback: { ...fallback, replicas: 0 } }).isActive).to.equal(false);
    for (const unusable of [{ failureThreshold: -1 }, { replicas: -1 }])
      expect(evaluated([LOST], { fallback: { ...fallback, ...unusable } }).isActive).to.equal(false);
  });

  it('takes a trigger for active that tells so by itself, though it is not known otherwise', () => {
    const found = evaluated([PENDING, IDLE], { pushed: [0] });
    expect(found.activeMetrics).to.deep.equal(['s0']);
    expect(found.triggersActivity).to.deep.equal({ s0: { isActive: true }, s1: { isActive: false } });
  });

  it('is active where nothing but CPU and memory is asked for, which tell nothing of zero', () => {
    expect(evaluated([]).isActive).to.equal(true);
  });
});

/** Of triggers with a metric each, `s0` and on, of a target with two replicas. */
function evaluated(
  states: readonly MetricState[],
  { fallback, pushed = [] }: { readonly fallback?: Fallback; readonly pushed?: readonly number[] } = {},
) {
  const triggers = states.map(() => ({ resource: undefined }));
  const observed = states.map((state, index) => ({
    ...{ trigger: triggers[index], metric: { metricName: `s${index}` }, state },
    isPushed: pushed.includes(index),
  }));
  const object = { metadata: { name: 'web' }, spec: { triggers: [], ...(fallback && { fallback }) } };
  const target = { replicas: 2, readyPods: 2 };
  return evaluate(object as never, { plan: { triggers } as never, observed: observed as never, target });
}
