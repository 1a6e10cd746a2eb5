import { expect } from 'chai';
import type { Fallback } from '#lib/scaled-objects/objects/scaled-object.ts';
import { compositeOf } from '#lib/scaled-objects/values/composite.ts';
import { compileFormula } from '#lib/scaled-objects/values/formula.ts';
import type { MetricState, ObservedMetric } from '#lib/scaled-objects/values/metric-state.ts';

const error = new Error('connection refused');
const PENDING: MetricState = { kind: 'pending' };
const FAILING: MetricState = { kind: 'failing', error };
const LOST: MetricState = { kind: 'fallback', error };
const STATIC: Fallback = { failureThreshold: 3, replicas: 4 };

describe('compositeOf', () => {
  it('works out the formula of the sums of triggers, and is active above the activation target', () => {
    const states = { a: value(2, 3), b: value(1) };
    expect(composite('a - b', states)).to.deep.equal({ kind: 'value', value: 4, isActive: true });
    expect(composite('a - b - 2', states)).to.deep.equal({ kind: 'value', value: 2, isActive: false });
  });

  it('knows nothing while a trigger is pending or fails, and says why where one fails', () => {
    expect(composite('a + b', { a: value(9), b: PENDING })).to.deep.equal(PENDING);
    expect(composite('a + b', { a: PENDING, b: FAILING })).to.deep.equal(FAILING);
    expect(composite('a + b', { a: LOST, b: FAILING }, STATIC)).to.deep.equal(FAILING);
  });

  it('has the fallback stand in for all where one trigger is lost, though another is pending', () => {
    const found = { kind: 'value', value: 40, isActive: true };
    expect(composite('a + b', { a: LOST, b: value(9) }, STATIC)).to.deep.equal(found);
    expect(composite('a + b', { a: LOST, b: PENDING }, STATIC)).to.deep.equal(found);
    const none = { ...STATIC, replicas: 0 };
    expect(composite('a + b', { a: LOST, b: value(9) }, none)).to.deep.equal({
      ...{ kind: 'value', value: 0, isActive: false },
    });
  });

  it('fails where the fallback asks for the present replicas, and nobody knows them', () => {
    const current = { ...STATIC, behavior: 'currentReplicas' } as const;
    expect(composite('a', { a: LOST }, current)).to.deep.equal({ kind: 'failing', error });
  });

  it('lets the formula see that a trigger is lost where the fallback leaves it to that', () => {
    const left = { ...STATIC, behavior: 'scalingModifiers' } as Fallback;
    const states = { a: LOST, b: value(9) };
    expect(composite('a ?? b', states, left)).to.deep.equal({ kind: 'value', value: 9, isActive: true });
    expect(composite('a', states, left)).to.deep.equal({ kind: 'value', value: 40, isActive: true });
    expect(composite('a + b', states, left)).to.have.property('kind', 'failing');
  });

  it('says what is wrong where the formula gives nothing, and there is no fallback', () => {
    const found = composite('c', { a: value(1), c: value() });
    expect(found).to.deep.equal({ kind: 'value', value: 0, isActive: false });
    const nothing = composite('a', { a: LOST });
    expect(nothing.kind === 'failing' && nothing.error.message).to.equal(
      'the formula gives nil, and there is no fallback',
    );
  });
});

function value(...values: readonly number[]): MetricState {
  return { kind: 'value', values, isActive: true, atMs: 0 };
}

/** Of triggers by their names, against a target of 10 replicas that nobody knows. */
function composite(formula: string, states: Readonly<Record<string, MetricState>>, fallback?: Fallback) {
  const observed = Object.entries(states).map(([name, state]) => ({
    ...{ trigger: { name }, metric: { target: 5, targetType: 'AverageValue' }, state, isPushed: false },
  }));
  const modifiers = { formula: compileFormula(formula), target: 10, activationTarget: 2 };
  return compositeOf(observed as unknown as readonly ObservedMetric[], {
    modifiers: { ...modifiers, metricType: 'AverageValue' },
    ...{ fallback, replicas: undefined, readyPods: undefined },
  });
}
