import { LIMITS, type Limit, type ReplicaRange } from './limit.ts';

/**
 * Limits an HPA without `behavior`: to its bounds, and up to twice its replicas, or four of them where that is more.
 *
 * @param recommended after stabilization
 */
export function defaultLimit(
  recommended: number,
  { currentReplicas, minReplicas, maxReplicas }: ReplicaRange,
): Limit {
  if (recommended < minReplicas) return { replicas: minReplicas, ...LIMITS.min };
  const reachable = Math.max(2 * currentReplicas, 4);
  const most = Math.min(maxReplicas, reachable);
  if (recommended > most) {
    return { replicas: most, ...(maxReplicas > reachable ? LIMITS.up : LIMITS.max) };
  }
  return { replicas: recommended, ...LIMITS.none };
}
