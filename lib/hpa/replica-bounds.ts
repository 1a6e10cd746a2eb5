import type { HorizontalPodAutoscaler } from './objects/horizontal-pod-autoscaler.ts';
import type { Scale } from './scale-reading.ts';

/** What decides before metrics do. */
export type BoundsStep =
  /** The target has no replicas, which is how users switch an HPA off. */
  'switched-off' | 'above-max' | 'below-min';

/** Tells whether a target is off its bounds, so that metrics need not be asked. */
export function boundsStep(hpa: HorizontalPodAutoscaler, { specReplicas }: Scale): BoundsStep | undefined {
  const minReplicas = minReplicasOf(hpa);
  if (specReplicas === 0 && minReplicas !== 0) return 'switched-off';
  if (specReplicas > hpa.spec.maxReplicas) return 'above-max';
  return specReplicas < minReplicas ? 'below-min' : undefined;
}

/** The fewest replicas that an HPA may ask for. */
export function minReplicasOf({ spec }: HorizontalPodAutoscaler): number {
  return spec.minReplicas ?? 1;
}
