import type {
  HpaBehavior,
  ScalingPolicy,
  ScalingRules,
} from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { MOST_REPLICAS } from '../decision/replica-calculator.ts';
import type { HpaMemory, ScaleEvent } from '../decision/scaling-state.ts';
import { LIMITS, type Limit, type PolicyAllowance, type ReplicaRange } from './limit.ts';
import { isInWindow } from './stabilization.ts';

/**
 * Limits an HPA with `behavior`: to its bounds, and to what its policies allow for their periods.
 *
 * Each policy counts from the replicas at the start of its period; those that do not come from scaling by this
 * controller are as if they had always been there.
 *
 * @param recommended after stabilization
 */
export function policyLimit(
  recommended: number,
  range: ReplicaRange,
  { behavior, memory, nowMs }: PolicyInput,
): Limit {
  const { currentReplicas, minReplicas, maxReplicas } = range;
  if (recommended > currentReplicas) {
    const policies = allowances('up', behavior.scaleUp, { memory, nowMs, currentReplicas });
    const reachable = Math.max(selected('up', behavior.scaleUp, policies, currentReplicas), currentReplicas);
    const most = Math.min(maxReplicas, reachable);
    if (recommended > most) {
      return { replicas: most, ...(maxReplicas > reachable ? LIMITS.up : LIMITS.max), policies };
    }
    return { replicas: recommended, ...LIMITS.none, policies };
  }
  if (recommended < currentReplicas) {
    const policies = allowances('down', behavior.scaleDown, { memory, nowMs, currentReplicas });
    const reachable = Math.min(
      selected('down', behavior.scaleDown, policies, currentReplicas),
      currentReplicas,
    );
    const fewest = Math.max(minReplicas, reachable);
    if (recommended < fewest) {
      return { replicas: fewest, ...(minReplicas < reachable ? LIMITS.down : LIMITS.min), policies };
    }
    return { replicas: recommended, ...LIMITS.none, policies };
  }
  return { replicas: recommended, ...LIMITS.none };
}

/** What policies are applied to. */
export interface PolicyInput {
  readonly behavior: HpaBehavior;
  readonly memory: HpaMemory;
  readonly nowMs: number;
}

type Direction = 'up' | 'down';

/** How far the policies let it scale together: the furthest that one allows, unless the least is asked for. */
function selected(
  direction: Direction,
  rules: ScalingRules | undefined,
  policies: readonly PolicyAllowance[],
  currentReplicas: number,
): number {
  if (policies.length === 0) return currentReplicas;
  const wantsHighest = (rules?.selectPolicy === 'Min') === (direction === 'down');
  return policies.reduce(
    (best, { replicas }) => (wantsHighest ? Math.max(best, replicas) : Math.min(best, replicas)),
    wantsHighest ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY,
  );
}

function allowances(
  direction: Direction,
  rules: ScalingRules | undefined,
  { memory, nowMs, currentReplicas }: Omit<PolicyInput, 'behavior'> & { readonly currentReplicas: number },
): readonly PolicyAllowance[] {
  if (rules?.selectPolicy === 'Disabled') return [];
  return (rules?.policies ?? []).map(({ type, value, periodSeconds }) => {
    const added = changeWithin(memory.scaleUpEvents, periodSeconds, nowMs);
    const removed = changeWithin(memory.scaleDownEvents, periodSeconds, nowMs);
    const periodStartReplicas = (currentReplicas - added + removed) | 0;
    const replicas = allowed(direction, { type, value, periodSeconds }, periodStartReplicas);
    return { type, value, periodSeconds, periodStartReplicas, replicas };
  });
}

/**
 * Up, a percentage is rounded up, or one replica might never become two; down, it leaves the rest rounded down.
 *
 * A number of pods wraps around at 32 bits as the controller's does; a percentage beyond them is no limit.
 */
function allowed(direction: Direction, { type, value }: ScalingPolicy, start: number): number {
  if (type === 'Pods') return (direction === 'up' ? start + value : start - value) | 0;
  return direction === 'up'
    ? Math.min(Math.ceil(start * (1 + value / 100)), MOST_REPLICAS)
    : Math.max(Math.trunc(start * (1 - value / 100)), -MOST_REPLICAS);
}

function changeWithin(events: readonly ScaleEvent[], periodSeconds: number, nowMs: number): number {
  let sum = 0;
  for (const { change, atMs } of events) if (isInWindow(atMs, periodSeconds * 1000, nowMs)) sum += change;
  return sum;
}
