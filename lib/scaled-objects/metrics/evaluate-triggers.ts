import { toError } from '#lib/telemetry/error-text.ts';
import type { Fallback } from '../api/scaled-object.ts';
import type { PreparedScaledObject } from '../preparation/prepared-scaled-object.ts';
import type { PreparedTriggers } from '../preparation/prepared-triggers.ts';
import type { Modifiers } from '../preparation/scaling-modifiers.ts';
import { type FallbackContext, fallbackReplicas, fallbackValue } from './fallback.ts';
import type { ObservedMetric } from './metric-state.ts';

/** Result of all triggers of an object. */
export interface Evaluation {
  readonly isActive: boolean;
  /** Whether a trigger fails and no fallback applies. */
  readonly hasError: boolean;
  /** Whether a trigger is not polled yet, so that nothing may be scaled down. */
  readonly isPending: boolean;
  readonly isFallingBack: boolean;
  /** Metric names. */
  readonly activeMetrics: readonly string[];
  readonly triggersActivity: Readonly<Record<string, { readonly isActive: boolean }>>;
}

interface TargetState {
  readonly replicas: number | undefined;
  readonly readyPods: number | undefined;
}

/** Combines the metrics of all triggers; with a formula, its result decides. */
export function evaluateTriggers(
  { modifiers, fallback }: PreparedScaledObject,
  {
    plan,
    observed,
    target,
  }: { plan: PreparedTriggers; observed: readonly ObservedMetric[]; target: TargetState },
): Evaluation {
  const fallbackCount = fallback ? (fallbackReplicas(fallback, target.replicas) ?? 0) : 0;
  const activity = observed.map(({ metric, state, isPushed }) => ({
    name: metric.metricName,
    isActive:
      isPushed || (state.kind === 'value' ? state.isActive : state.kind === 'fallback' && fallbackCount > 0),
    isEvaluated: isPushed || state.kind !== 'pending',
  }));
  const base = {
    activeMetrics: activity.filter(({ isActive }) => isActive).map(({ name }) => name),
    isFallingBack: observed.some(({ state }) => state.kind === 'fallback'),
    triggersActivity: Object.fromEntries(
      activity.filter(({ isEvaluated }) => isEvaluated).map(({ name, isActive }) => [name, { isActive }]),
    ),
  };
  if (modifiers) {
    const composite = evaluateComposite(observed, { ...target, modifiers, fallback });
    return {
      ...base,
      isActive:
        (composite.kind === 'value' && composite.isActive) || observed.some(({ isPushed }) => isPushed),
      hasError: composite.kind === 'failing',
      isPending: composite.kind === 'pending',
    };
  }
  // cpu and memory are read by the HPA controller and never deactivate; an object with only these is always active.
  const isResourcesAlone = plan.triggers.every(({ resource }) => resource !== undefined);
  return {
    ...base,
    isActive: isResourcesAlone || base.activeMetrics.length > 0,
    hasError: observed.some(({ state }) => state.kind === 'failing'),
    isPending: observed.some(({ state }) => state.kind === 'pending'),
  };
}

/** Result of a formula. */
type Composite =
  | { readonly kind: 'pending' }
  | { readonly kind: 'value'; readonly value: number; readonly isActive: boolean }
  | { readonly kind: 'failing'; readonly error: Error };

interface CompositeOptions extends FallbackContext {
  readonly modifiers: Modifiers;
  readonly fallback: Fallback | undefined;
}

/** Evaluates the formula; a failing trigger fails it until the fallback applies. */
export function evaluateComposite(observed: readonly ObservedMetric[], options: CompositeOptions): Composite {
  const { modifiers, fallback } = options;
  const failing = observed.find(({ state }) => state.kind === 'failing')?.state;
  if (failing?.kind === 'failing') return failing;
  const lost = observed.find(({ state }) => state.kind === 'fallback');
  if (lost && fallback && fallback.behavior !== 'scalingModifiers') return substituted(lost, options);
  if (observed.some(({ state }) => state.kind === 'pending')) return { kind: 'pending' };
  try {
    const value = modifiers.formula.evaluate(valuesOf(observed));
    if (value === undefined) return nilResult(options);
    return { kind: 'value', value, isActive: value > modifiers.activationTarget };
  } catch (error) {
    return { kind: 'failing', error: toError(error) };
  }
}

/** Values by trigger name, several values of one trigger summed. */
function valuesOf(observed: readonly ObservedMetric[]): Readonly<Record<string, number | undefined>> {
  const values = new Map<string, number | undefined>();
  for (const { trigger, state } of observed) {
    const name = trigger.name ?? '';
    const own = state.kind === 'value' ? state.values.reduce((sum, value) => sum + value, 0) : undefined;
    values.set(name, own === undefined ? values.get(name) : (values.get(name) ?? 0) + own);
  }
  return Object.fromEntries(values);
}

function substituted({ metric, state }: ObservedMetric, options: CompositeOptions): Composite {
  const { fallback, replicas } = options;
  const error = state.kind === 'fallback' ? state.error : new Error('error performing fallback');
  if (!fallback) return { kind: 'failing', error };
  try {
    const value = fallbackValue(metric, fallback, options);
    if (value === undefined) return { kind: 'failing', error };
    return { kind: 'value', value, isActive: (fallbackReplicas(fallback, replicas) ?? 0) > 0 };
  } catch (cause) {
    return { kind: 'failing', error: toError(cause) };
  }
}

function nilResult({ fallback, modifiers }: CompositeOptions): Composite {
  if (!fallback)
    return { kind: 'failing', error: new Error('the formula returns nil and there is no fallback') };
  return { kind: 'value', value: fallback.replicas * modifiers.target, isActive: fallback.replicas > 0 };
}
