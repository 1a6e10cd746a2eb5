import {
  type ConditionChange,
  type ConditionRemoval,
  NO_SCALED_TO_ZERO,
} from '#lib/control/status/conditions.ts';
import type { HorizontalPodAutoscaler } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { HpaConfig, Scale } from './decision/decision-input.ts';

/** What decides before metrics do. */
export type BoundsStep =
  /** The target has no replicas, and no HPA scaled it to zero: that is how users switch an HPA off. */
  'switched-off' | 'above-max' | 'below-min';

/** Tells whether a target is off its bounds, so that metrics need not be asked. */
export function boundsStep(
  hpa: HorizontalPodAutoscaler,
  { specReplicas }: Scale,
  { scaleToZero }: Pick<HpaConfig, 'scaleToZero'>,
): BoundsStep | undefined {
  if (specReplicas === 0) return scaleToZero && mayLeaveZero(hpa) ? undefined : 'switched-off';
  if (specReplicas > hpa.spec.maxReplicas) return 'above-max';
  return specReplicas < minReplicasOf(hpa) ? 'below-min' : undefined;
}

/** Whether it was this HPA that scaled its target to zero, and it may not stay there or has metrics without pods. */
function mayLeaveZero(hpa: HorizontalPodAutoscaler): boolean {
  const scaledToZero = hpa.status?.conditions?.find(({ type }) => type === 'ScaledToZero');
  return scaledToZero?.status === 'True' && (minReplicasOf(hpa) !== 0 || hasMetricsWithoutPods(hpa));
}

/** Whether an HPA has a metric that there is while its target has no pods. */
function hasMetricsWithoutPods({ spec }: HorizontalPodAutoscaler): boolean {
  return spec.metrics?.some(({ type }) => type === 'Object' || type === 'External') ?? false;
}

/** The condition ScaledToZero once an HPA has scaled its target. */
export function scaledToZeroAfter(
  replicas: number,
  hpa: HorizontalPodAutoscaler,
  { scaleToZero }: Pick<HpaConfig, 'scaleToZero'>,
): ConditionChange | ConditionRemoval {
  if (!scaleToZero) return NO_SCALED_TO_ZERO;
  const isTrue = replicas === 0 && minReplicasOf(hpa) === 0 && hasMetricsWithoutPods(hpa);
  return {
    type: 'ScaledToZero',
    isTrue,
    reason: isTrue ? 'ScaledToZero' : 'NotScaledToZero',
    message: `the HPA controller ${isTrue ? 'scaled' : 'did not scale'} the workload to zero`,
  };
}

/** The fewest replicas that an HPA may ask for. */
export function minReplicasOf({ spec }: HorizontalPodAutoscaler): number {
  return spec.minReplicas ?? 1;
}
