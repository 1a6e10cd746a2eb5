import type { CompiledScaledObject } from '../preparation/prepared-scaled-object.ts';
import type { PlannedObject } from '../triggers/planned-object.ts';
import { compositeOf } from '../values/composite.ts';
import { fallbackReplicas } from '../values/fallback.ts';
import type { ObservedMetric } from '../values/metric-state.ts';

/** What triggers say together. */
export interface Evaluation {
  readonly isActive: boolean;
  /** Whether a trigger fails that no fallback stands in for. */
  readonly hasError: boolean;
  /** Whether more must be known before anything is scaled down. */
  readonly isPending: boolean;
  readonly isFallingBack: boolean;
  /** Names of metrics that are active. */
  readonly activeMetrics: readonly string[];
  readonly triggersActivity: Readonly<Record<string, { readonly isActive: boolean }>>;
}

/** What is known of the target. */
export interface TargetState {
  readonly replicas: number | undefined;
  readonly readyPods: number | undefined;
}

/** Brings together what is known of the triggers of an object. */
export function evaluate(
  { modifiers, fallback }: CompiledScaledObject,
  {
    plan,
    observed,
    target,
  }: { plan: PlannedObject; observed: readonly ObservedMetric[]; target: TargetState },
): Evaluation {
  const wanted = fallback ? (fallbackReplicas(fallback, target.replicas) ?? 0) : 0;
  const activity = observed.map(({ metric, state, isPushed }) => ({
    name: metric.metricName,
    isActive: isPushed || (state.kind === 'value' ? state.isActive : state.kind === 'fallback' && wanted > 0),
    isKnown: isPushed || state.kind !== 'pending',
  }));
  const base = {
    activeMetrics: activity.filter(({ isActive }) => isActive).map(({ name }) => name),
    isFallingBack: observed.some(({ state }) => state.kind === 'fallback'),
    triggersActivity: Object.fromEntries(
      activity.filter(({ isKnown }) => isKnown).map(({ name, isActive }) => [name, { isActive }]),
    ),
  };
  if (modifiers) {
    const composite = compositeOf(observed, { ...target, modifiers, fallback });
    return {
      ...base,
      isActive:
        (composite.kind === 'value' && composite.isActive) || observed.some(({ isPushed }) => isPushed),
      hasError: composite.kind === 'failing',
      isPending: composite.kind === 'pending',
    };
  }
  // What the HPA controller reads itself tells nothing of zero; where there is nothing else, there is no zero.
  const isResourcesAlone = plan.triggers.every(({ resource }) => resource !== undefined);
  return {
    ...base,
    isActive: isResourcesAlone || base.activeMetrics.length > 0,
    hasError: observed.some(({ state }) => state.kind === 'failing'),
    isPending: observed.some(({ state }) => state.kind === 'pending'),
  };
}
