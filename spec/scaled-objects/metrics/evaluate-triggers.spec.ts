import { expect } from 'chai';
import type { Fallback } from '#lib/scaled-objects/api/scaled-object.ts';
import { evaluateComposite, evaluateTriggers } from '#lib/scaled-objects/metrics/evaluate-triggers.ts';
import type { MetricState, ObservedMetric } from '#lib/scaled-objects/metrics/metric-state.ts';
import { compileFormula } from '#lib/scaled-objects/preparation/formula.ts';
import { compileScaledObject } from '#lib/scaled-objects/preparation/prepared-scaled-object.ts';

const error = new Error('connection refused');
const ACTIVE: MetricState = { kind: 'value', values: [9], isActive: true, atMs: 0 };
const IDLE: MetricState = { kind: 'value', values: [0], isActive: false, atMs: 0 };
const PENDING: MetricState = { kind: 'pending' };
const FAILING: MetricState = { kind: 'failing', error };
const LOST: MetricState = { kind: 'fallback', error };

describe('evaluateTriggers', () => {
  it('is active if one trigger is, and reports the activity of each known one', () => {
    expect(evaluated([IDLE, ACTIVE, PENDING])).to.deep.equal({
      ...{ isActive: true, hasError: false, isPending: true, isFallingBack: false },
      activeMetrics: ['s1'],
      triggersActivity: { s0: { isActive: false }, s1: { isActive: true } },
    });
    expect(evaluated([IDLE, FAILING])).to.include({ isActive: false, hasError: true, isPending: false });
  });

  it('is active by its fallback if that has replicas, and not by an invalid one', () => {
    const fallback = { failureThreshold: 3, replicas: 2 };
    const found = evaluated([LOST], { fallback });
    expect(found).to.include({ isActive: true, isFallingBack: true, hasError: false });
    expect(evaluated([LOST], { fallback: { ...fallback, replicas: 0 } }).isActive).to.equal(false);
    for (const unusable of [{ failureThreshold: -1 }, { replicas: -1 }])
      expect(evaluated([LOST], { fallback: { ...fallback, ...unusable } }).isActive).to.equal(false);
  });

  it('counts a pushed trigger as active even if it is not polled yet', () => {
    const found = evaluated([PENDING, IDLE], { pushed: [0] });
    expect(found.activeMetrics).to.deep.equal(['s0']);
    expect(found.triggersActivity).to.deep.equal({ s0: { isActive: true }, s1: { isActive: false } });
  });

  it('uses only the formula, if there is one, and pushes', () => {
    const formula = (text: string, states: readonly MetricState[], more: object = {}) =>
      evaluated(states, { formula: text, ...more });
    expect(formula('s0 + s1', [ACTIVE, IDLE])).to.deep.include({
      ...{ isActive: true, hasError: false, isPending: false, activeMetrics: ['s0'] },
    });
    expect(formula('s0 - 9', [ACTIVE])).to.include({ isActive: false }); // 0, not above the activation target
    expect(formula('s0 - 9', [ACTIVE], { pushed: [0] })).to.include({ isActive: true });
    expect(formula('s0', [PENDING])).to.include({ isActive: false, hasError: false, isPending: true });
    expect(formula('s0', [FAILING])).to.include({ isActive: false, hasError: true, isPending: false });
    const fallback = { failureThreshold: 3, replicas: 2 };
    expect(formula('s0', [LOST], { fallback })).to.include({
      isActive: true,
      hasError: false,
      isFallingBack: true,
    });
    expect(
      formula('s0 ?? 0', [LOST], { fallback: { ...fallback, behavior: 'scalingModifiers' } }),
    ).to.include({
      ...{ isActive: false, hasError: false, isFallingBack: true },
    });
  });

  it('uses the current replicas if the fallback requires that', () => {
    const fallback = { failureThreshold: 3, replicas: 0, behavior: 'currentReplicas' };
    expect(evaluated([LOST], { fallback })).to.include({ isActive: true });
    expect(evaluated([LOST], { fallback, replicas: undefined })).to.include({ isActive: false });
  });

  it('is not active if the only other trigger beside CPU is inactive', () => {
    expect(evaluated([IDLE], { resources: ['cpu'] })).to.include({ isActive: false });
    expect(evaluated([], { resources: ['cpu'] })).to.include({ isActive: true });
  });

  it('is active if all triggers are CPU and memory, which never deactivate', () => {
    expect(evaluated([]).isActive).to.equal(true);
  });
});

interface Given {
  readonly fallback?: Fallback;
  readonly pushed?: readonly number[];
  readonly formula?: string;
  readonly replicas?: number | undefined;
  /** Names of triggers that the HPA controller reads itself. */
  readonly resources?: readonly string[];
}

/** Evaluates triggers with one metric each, from `s0`, for a target with two replicas. */
function evaluated(states: readonly MetricState[], given: Given = {}) {
  const { fallback, pushed = [], formula, resources = [] } = given;
  const triggers = states.map((_, index) => ({ name: `s${index}`, type: 'cron', resource: undefined }));
  const observed = states.map((state, index) => ({
    ...{ trigger: triggers[index], metric: { metricName: `s${index}`, target: 5 }, state },
    isPushed: pushed.includes(index),
  }));
  const advanced = formula === undefined ? undefined : { scalingModifiers: { formula, target: '10' } };
  const spec = {
    scaleTargetRef: { name: 'web' },
    triggers,
    ...(fallback && { fallback }),
    ...(advanced && { advanced }),
  };
  const object = { metadata: { name: 'web' }, spec };
  const plan = { triggers: [...triggers, ...resources.map((resource) => ({ resource }))] };
  const target = { replicas: 'replicas' in given ? given.replicas : 2, readyPods: 2 };
  return evaluateTriggers(compileScaledObject(object as never), {
    plan: plan as never,
    observed: observed as never,
    target,
  });
}

const STATIC: Fallback = { failureThreshold: 3, replicas: 4 };

describe('evaluateComposite', () => {
  it('works out the formula of the sums of triggers, and is active above the activation target', () => {
    const states = { a: value(2, 3), b: value(1) };
    expect(composite('a - b', states)).to.deep.equal({ kind: 'value', value: 4, isActive: true });
    expect(composite('a - b - 2', states)).to.deep.equal({ kind: 'value', value: 2, isActive: false });
  });

  it('has no value while a trigger is pending or fails, and has the error of a failing one', () => {
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

  it('fails if the fallback needs the current replicas and they are unknown', () => {
    const current = { ...STATIC, behavior: 'currentReplicas' } as const;
    expect(composite('a', { a: LOST }, current)).to.deep.equal({ kind: 'failing', error });
  });

  it('passes the missing value to the formula if the fallback is scalingModifiers', () => {
    const left = { ...STATIC, behavior: 'scalingModifiers' } as Fallback;
    const states = { a: LOST, b: value(9) };
    expect(composite('a ?? b', states, left)).to.deep.equal({ kind: 'value', value: 9, isActive: true });
    expect(composite('a', states, left)).to.deep.equal({ kind: 'value', value: 40, isActive: true });
    expect(composite('a + b', states, left)).to.have.property('kind', 'failing');
  });

  it('has an error if the formula returns nil and there is no fallback', () => {
    const found = composite('c', { a: value(1), c: value() });
    expect(found).to.deep.equal({ kind: 'value', value: 0, isActive: false });
    const nothing = composite('a', { a: LOST });
    expect(nothing.kind === 'failing' && nothing.error.message).to.equal(
      'the formula returns nil and there is no fallback',
    );
  });
});

function value(...values: readonly number[]): MetricState {
  return { kind: 'value', values, isActive: true, atMs: 0 };
}

/** Evaluates a formula over named triggers, with a target of 10 and unknown replicas. */
function composite(formula: string, states: Readonly<Record<string, MetricState>>, fallback?: Fallback) {
  const observed = Object.entries(states).map(([name, state]) => ({
    ...{ trigger: { name }, metric: { target: 5, targetType: 'AverageValue' }, state, isPushed: false },
  }));
  const modifiers = { formula: compileFormula(formula), target: 10, activationTarget: 2 };
  return evaluateComposite(observed as unknown as readonly ObservedMetric[], {
    modifiers: { ...modifiers, metricType: 'AverageValue' },
    ...{ fallback, replicas: undefined, readyPods: undefined },
  });
}
