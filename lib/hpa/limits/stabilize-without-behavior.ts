import { type Recommendation, remember } from '../decision/scaling-state.ts';
import {
  isBeforeWindow,
  NOT_STABILIZED,
  SCALE_DOWN_STABILIZED,
  type Stabilization,
} from './stabilization.ts';

/**
 * Stabilizes an HPA without `behavior`: the highest recommendation of the controller's window holds.
 *
 * @param proposed what the metrics ask for
 */
export function stabilizeWithoutBehavior(
  proposed: number,
  earlier: readonly Recommendation[],
  { windowMs, nowMs }: { readonly windowMs: number; readonly nowMs: number },
): Stabilization {
  const isTooOld = ({ atMs }: Recommendation): boolean => isBeforeWindow(atMs, windowMs, nowMs);
  let highest: Recommendation = { replicas: proposed, atMs: nowMs };
  for (const one of earlier) if (!isTooOld(one) && one.replicas > highest.replicas) highest = one;
  const isHeld = highest.replicas !== proposed;
  return {
    ...(isHeld ? SCALE_DOWN_STABILIZED : NOT_STABILIZED),
    ...(isHeld ? { heldBy: highest } : {}),
    replicas: highest.replicas,
    proposed,
    scaleUpWindowMs: 0,
    scaleDownWindowMs: windowMs,
    recommendations: remember(earlier, { replicas: proposed, atMs: nowMs }, isTooOld),
  };
}
