import type { Fallback } from '../api/scaled-object.ts';
import type { PlannedMetric } from '../preparation/prepared-scaled-object.ts';
import type { Modifiers } from './modifiers.ts';

/** Whether what a fallback asks for depends on how many replicas there are. */
export function asksForReplicas({ behavior = 'static' }: Fallback): boolean {
  return !['', 'static', 'scalingModifiers'].includes(behavior);
}

/** What of the target decides how many replicas a fallback asks for. */
export interface FallbackContext {
  /** How many there are to be now; `undefined` where that cannot be read. */
  readonly replicas: number | undefined;
  /** How many pods run and are ready; `undefined` where that is not known. */
  readonly readyPods: number | undefined;
  readonly modifiers: Modifiers | undefined;
}

/** How many replicas a fallback asks for; `undefined` where the current number matters and is not known. */
export function fallbackReplicas(fallback: Fallback, current: number | undefined) {
  const { replicas, behavior } = fallback;
  if (!asksForReplicas(fallback)) return replicas;
  if (current === undefined) return undefined;
  if (behavior === 'currentReplicas') return current;
  return behavior === 'currentReplicasIfHigher' ? Math.max(current, replicas) : Math.min(current, replicas);
}

/**
 * The value that stands in for one that cannot be read, so that the HPA comes to the replicas that are wanted.
 *
 * @throws an Error where that cannot be told
 */
export function fallbackValue(
  { target: own, targetType: ownType }: Pick<PlannedMetric, 'target' | 'targetType'>,
  fallback: Fallback,
  { replicas: current, readyPods, modifiers }: FallbackContext,
): number | undefined {
  const replicas = fallbackReplicas(fallback, current);
  if (replicas === undefined) return undefined;
  const target = modifiers?.target ?? own;
  const type = modifiers?.metricType ?? ownType;
  if (type !== 'Value') return target * replicas;
  // The HPA multiplies by the ready pods, so that it comes to R of them: value / target * ready = R.
  if (!readyPods) throw new Error('error performing fallback');
  return (target * replicas) / readyPods;
}
