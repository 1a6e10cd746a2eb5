/** A schedule that is active, as an HPA is scaled by it. */
export interface ActiveTarget {
  /** As events name it. */
  readonly schedule: { readonly kind: string; readonly key: string };
  /** The whole value, on the way up or down, too. */
  readonly value: number;
  /** Of it, that one replica is for. */
  readonly averageValue: number;
}

/** To how many replicas an HPA is lifted, and by which schedule. */
export interface Lift {
  readonly replicas: number;
  readonly schedule: ActiveTarget['schedule'];
}

/**
 * The last replicas that an HPA leaves out, because a schedule's value is within its tolerance of what there is.
 *
 * @returns `undefined` where nothing is left out
 */
export function liftedReplicas(
  targets: readonly ActiveTarget[],
  facts: { readonly current: number; readonly most: number; readonly tolerance: number },
): Lift | undefined {
  const { current, most, tolerance } = facts;
  if (current === 0) return undefined;
  let lift: Lift | undefined;
  for (const { schedule, value, averageValue } of targets) {
    if (!(averageValue > 0)) continue;
    const expected = Math.min(Math.ceil(value / averageValue), most);
    const offBy = Math.abs(1 - value / (averageValue * current));
    if (expected <= current || offBy === 0 || offBy > tolerance) continue;
    if (!lift || expected > lift.replicas) lift = { replicas: expected, schedule };
  }
  return lift;
}
