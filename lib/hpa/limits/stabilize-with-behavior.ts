import { type Recommendation, remember } from '../decision/scaling-state.ts';
import {
  isBeforeWindow,
  isInWindow,
  NOT_STABILIZED,
  SCALE_DOWN_STABILIZED,
  SCALE_UP_STABILIZED,
  type Stabilization,
} from './stabilization.ts';

/** How far back earlier recommendations hold, each way. */
export interface StabilizationWindows {
  readonly scaleUpWindowMs: number;
  readonly scaleDownWindowMs: number;
  readonly nowMs: number;
}

/**
 * Stabilizes an HPA with `behavior`: it scales up no further than the lowest recommendation of one window, down no
 * further than the highest of the other, and else stays.
 *
 * @param proposed what the metrics ask for
 */
export function stabilizeWithBehavior(
  { proposed, currentReplicas }: { readonly proposed: number; readonly currentReplicas: number },
  earlier: readonly Recommendation[],
  { scaleUpWindowMs, scaleDownWindowMs, nowMs }: StabilizationWindows,
): Stabilization {
  const newest: Recommendation = { replicas: proposed, atMs: nowMs };
  let lowest = newest;
  let highest = newest;
  for (const one of earlier) {
    if (one.replicas < lowest.replicas && isInWindow(one.atMs, scaleUpWindowMs, nowMs)) lowest = one;
    if (one.replicas > highest.replicas && isInWindow(one.atMs, scaleDownWindowMs, nowMs)) highest = one;
  }
  const replicas = Math.min(Math.max(currentReplicas, lowest.replicas), highest.replicas);
  const isHeld = replicas !== proposed;
  const held = proposed >= currentReplicas ? SCALE_UP_STABILIZED : SCALE_DOWN_STABILIZED;
  return {
    ...(isHeld ? held : NOT_STABILIZED),
    ...(isHeld ? { heldBy: proposed >= currentReplicas ? lowest : highest } : {}),
    replicas,
    proposed,
    scaleUpWindowMs,
    scaleDownWindowMs,
    recommendations: remember(
      earlier,
      newest,
      ({ atMs }) =>
        isBeforeWindow(atMs, scaleUpWindowMs, nowMs) && isBeforeWindow(atMs, scaleDownWindowMs, nowMs),
    ),
  };
}
