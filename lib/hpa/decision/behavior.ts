import {
  type HpaBehavior,
  type HpaSpec,
  MAX_REPLICAS,
  minReplicasOf,
  type ScalingPolicy,
  type ScalingRules,
} from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { DecisionInput, HpaConfig, Scale, ScaleDownLimit } from './decision-input.ts';
import type { ConditionChange } from './hpa-conditions.ts';
import {
  isBeforeWindow,
  isInWindow,
  type Recommendation,
  recordEntry,
  type ScaleEvent,
  type ScalingState,
} from './scaling-state.ts';

interface LimitedReplicas {
  readonly stabilization: Omit<Stabilization, 'recommendations'>;
  readonly limit: Limit;
  readonly conditions: readonly ConditionChange[];
  /** The state with this proposal added to its recommendations. */
  readonly memory: ScalingState;
}

/** Limits a proposal by earlier recommendations, scaling policies, and the bounds of the HPA. */
export function limitReplicas(
  proposed: number,
  { specReplicas: currentReplicas }: Scale,
  { hpa, memory, config, nowMs }: DecisionInput,
): LimitedReplicas {
  const { behavior, maxReplicas } = hpa.spec;
  const range = { currentReplicas, minReplicas: minReplicasOf(hpa), maxReplicas };
  const windows = findWindows(hpa.spec, config);
  const { recommendations, ...stabilization } = behavior
    ? stabilizeWithBehavior({ proposed, currentReplicas }, memory.recommendations, { ...windows, nowMs })
    : stabilizeWithoutBehavior(proposed, memory.recommendations, {
        windowMs: windows.scaleDownWindowMs,
        nowMs,
      });
  const limit = behavior
    ? policyLimit(stabilization.replicas, range, { behavior, memory, nowMs })
    : defaultLimit(stabilization.replicas, range, config.scaleDownLimit);
  const { reason, message } = stabilization;
  return {
    stabilization,
    limit,
    conditions: [
      { type: 'AbleToScale', isTrue: true, reason, message },
      {
        type: 'ScalingLimited',
        isTrue: limit.replicas !== stabilization.replicas,
        reason: limit.reason,
        message: limit.message,
      },
    ],
    memory: { ...memory, recommendations },
  };
}

/** Stabilization windows, in ms. */
export interface StabilizationWindows {
  readonly scaleUpWindowMs: number;
  readonly scaleDownWindowMs: number;
}

/**
 * The stabilization windows of an HPA; for scaling down by default that of the controller, with `behavior` in whole
 * seconds.
 */
export function findWindows({ behavior }: HpaSpec, config: HpaConfig): StabilizationWindows {
  const { downscaleStabilizationMs } = config;
  if (!behavior) return { scaleUpWindowMs: 0, scaleDownWindowMs: downscaleStabilizationMs };
  const { scaleUp, scaleDown } = behavior;
  const defaultSeconds = Math.trunc(downscaleStabilizationMs / 1000);
  return {
    scaleUpWindowMs: (scaleUp?.stabilizationWindowSeconds ?? 0) * 1000,
    scaleDownWindowMs: (scaleDown?.stabilizationWindowSeconds ?? defaultSeconds) * 1000,
  };
}

/** A recommendation after stabilization. */
export interface Stabilization extends StabilizationWindows {
  readonly replicas: number;
  /** The recommendation before stabilization. */
  readonly proposed: number;
  /** The earlier recommendation that applies instead. */
  readonly stabilizedBy?: Recommendation;
  /** Reason and message of the condition AbleToScale. */
  readonly reason: string;
  readonly message: string;
  /** The recommendations to record, including this one. */
  readonly recommendations: readonly Recommendation[];
}

/** Stabilization changed nothing. */
const NOT_STABILIZED = {
  reason: 'ReadyForNewScale',
  message: 'recommended size matches current size',
} as const;

/** The load was higher within the window. */
const SCALE_DOWN_STABILIZED = {
  reason: 'ScaleDownStabilized',
  message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
} as const;

/** The load was lower within the window. */
const SCALE_UP_STABILIZED = {
  reason: 'ScaleUpStabilized',
  message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
} as const;

/**
 * Stabilizes an HPA with `behavior`: scales up at most to the lowest recommendation of the scale-up window and down at
 * most to the highest of the scale-down window; otherwise the replicas stay.
 *
 * @param proposed what the metrics propose
 */
export function stabilizeWithBehavior(
  { proposed, currentReplicas }: { readonly proposed: number; readonly currentReplicas: number },
  earlier: readonly Recommendation[],
  { scaleUpWindowMs, scaleDownWindowMs, nowMs }: StabilizationWindows & { readonly nowMs: number },
): Stabilization {
  const newest: Recommendation = { replicas: proposed, atMs: nowMs };
  let lowest = newest;
  let highest = newest;
  for (const one of earlier) {
    if (one.replicas < lowest.replicas && isInWindow(one.atMs, scaleUpWindowMs, nowMs)) lowest = one;
    if (one.replicas > highest.replicas && isInWindow(one.atMs, scaleDownWindowMs, nowMs)) highest = one;
  }
  const replicas = Math.min(Math.max(currentReplicas, lowest.replicas), highest.replicas);
  const isStabilized = replicas !== proposed;
  const stabilized = proposed >= currentReplicas ? SCALE_UP_STABILIZED : SCALE_DOWN_STABILIZED;
  return {
    ...(isStabilized ? stabilized : NOT_STABILIZED),
    ...(isStabilized ? { stabilizedBy: proposed >= currentReplicas ? lowest : highest } : {}),
    replicas,
    proposed,
    scaleUpWindowMs,
    scaleDownWindowMs,
    recommendations: recordEntry(
      earlier,
      newest,
      ({ atMs }) =>
        isBeforeWindow(atMs, scaleUpWindowMs, nowMs) && isBeforeWindow(atMs, scaleDownWindowMs, nowMs),
    ),
  };
}

/**
 * Stabilizes an HPA without `behavior`: the highest recommendation of the controller's window applies.
 *
 * @param proposed what the metrics propose
 */
export function stabilizeWithoutBehavior(
  proposed: number,
  earlier: readonly Recommendation[],
  { windowMs, nowMs }: { readonly windowMs: number; readonly nowMs: number },
): Stabilization {
  const isTooOld = ({ atMs }: Recommendation): boolean => isBeforeWindow(atMs, windowMs, nowMs);
  let highest: Recommendation = { replicas: proposed, atMs: nowMs };
  for (const one of earlier) if (!isTooOld(one) && one.replicas > highest.replicas) highest = one;
  const isStabilized = highest.replicas !== proposed;
  return {
    ...(isStabilized ? SCALE_DOWN_STABILIZED : NOT_STABILIZED),
    ...(isStabilized ? { stabilizedBy: highest } : {}),
    replicas: highest.replicas,
    proposed,
    scaleUpWindowMs: 0,
    scaleDownWindowMs: windowMs,
    recommendations: recordEntry(earlier, { replicas: proposed, atMs: nowMs }, isTooOld),
  };
}

/** A recommendation limited by minimum, maximum and policies. */
export interface Limit {
  readonly replicas: number;
  /** Reason and message of the condition ScalingLimited. */
  readonly reason: string;
  readonly message: string;
  /** What each policy allows; absent for an HPA without `behavior` and when it does not scale. */
  readonly policies?: readonly PolicyAllowance[];
  /** The limit of the controller, with the minimum of replicas now; absent if it has none or does not scale down. */
  readonly scaleDownLimit?: ScaleDownLimit & { readonly replicas: number };
}

/** What one policy allows now. */
interface PolicyAllowance {
  readonly type: string;
  readonly value: number;
  readonly periodSeconds: number;
  /** Replicas at the start of the period, by the scale events of this controller. */
  readonly periodStartReplicas: number;
  /** The maximum of replicas; the minimum when scaling down. */
  readonly replicas: number;
}

const LIMITS = {
  none: { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' },
  min: {
    reason: 'TooFewReplicas',
    message: 'the desired replica count is less than the minimum replica count',
  },
  max: {
    reason: 'TooManyReplicas',
    message: 'the desired replica count is more than the maximum replica count',
  },
  up: {
    reason: 'ScaleUpLimit',
    message: 'the desired replica count is increasing faster than the maximum scale rate',
  },
  down: {
    reason: 'ScaleDownLimit',
    message: 'the desired replica count is decreasing faster than the maximum scale rate',
  },
} as const;

interface ReplicaRange {
  readonly currentReplicas: number;
  readonly minReplicas: number;
  readonly maxReplicas: number;
}

/**
 * Limits an HPA without `behavior`: to its bounds, to twice its replicas or 4, whichever is more, and to the limit of the
 * controller for scaling down.
 *
 * @param recommended after stabilization
 */
export function defaultLimit(
  recommended: number,
  { currentReplicas, minReplicas, maxReplicas }: ReplicaRange,
  scaleDownLimit: ScaleDownLimit,
): Limit {
  const isLimited = scaleDownLimit.factor > 0 || scaleDownLimit.minimum > 0;
  if (isLimited && recommended < currentReplicas) {
    const lowest = lowestReplicas(scaleDownLimit, currentReplicas);
    const used = { scaleDownLimit: { ...scaleDownLimit, replicas: lowest } };
    const minimum = Math.max(minReplicas, lowest);
    if (recommended >= minimum) return { replicas: recommended, ...LIMITS.none, ...used };
    return { replicas: minimum, ...(minReplicas < lowest ? LIMITS.down : LIMITS.min), ...used };
  }
  if (recommended < minReplicas) return { replicas: minReplicas, ...LIMITS.min };
  const reachable = Math.max(2 * currentReplicas, 4);
  const most = Math.min(maxReplicas, reachable);
  if (recommended > most) {
    return { replicas: most, ...(maxReplicas > reachable ? LIMITS.up : LIMITS.max) };
  }
  return { replicas: recommended, ...LIMITS.none };
}

/** Drops a fraction, as a policy in per cent does: otherwise few replicas would never become fewer. */
function lowestReplicas({ factor, minimum }: ScaleDownLimit, currentReplicas: number): number {
  const scaled = Math.trunc(Number((factor * currentReplicas).toPrecision(SURE_DIGITS)));
  return Math.min(Math.max(minimum, scaled), currentReplicas);
}

/** As many digits as a double represents reliably: 0.29 × 100 is 29, not 28.999…. */
const SURE_DIGITS = 15;

/**
 * Limits an HPA with `behavior`: to its bounds, and to what its policies allow.
 *
 * A policy counts from the replicas at the start of its period. Changes by other controllers count as if they had been
 * there before.
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
    const minimum = Math.max(minReplicas, reachable);
    if (recommended < minimum) {
      return { replicas: minimum, ...(minReplicas < reachable ? LIMITS.down : LIMITS.min), policies };
    }
    return { replicas: recommended, ...LIMITS.none, policies };
  }
  return { replicas: recommended, ...LIMITS.none };
}

interface PolicyInput {
  readonly behavior: HpaBehavior;
  readonly memory: ScalingState;
  readonly nowMs: number;
}

type Direction = 'up' | 'down';

/** The limit of all policies: the widest, or the narrowest with selectPolicy `Min`. */
function selected(
  direction: Direction,
  rules: ScalingRules | undefined,
  policies: readonly PolicyAllowance[],
  currentReplicas: number,
): number {
  if (policies.length === 0) return currentReplicas;
  const selectsHighest = (rules?.selectPolicy === 'Min') === (direction === 'down');
  return policies.reduce(
    (best, { replicas }) => (selectsHighest ? Math.max(best, replicas) : Math.min(best, replicas)),
    selectsHighest ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY,
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
 * Rounds a percentage up when scaling up (otherwise 1 replica could never become 2) and the rest down when scaling down.
 *
 * A number of pods wraps around at 32 bits as in Kubernetes; a percentage beyond 32 bits is no limit.
 */
function allowed(direction: Direction, { type, value }: ScalingPolicy, start: number): number {
  if (type === 'Pods') return (direction === 'up' ? start + value : start - value) | 0;
  return direction === 'up'
    ? Math.min(Math.ceil(start * (1 + value / 100)), MAX_REPLICAS)
    : Math.max(Math.trunc(start * (1 - value / 100)), -MAX_REPLICAS);
}

function changeWithin(events: readonly ScaleEvent[], periodSeconds: number, nowMs: number): number {
  let sum = 0;
  for (const { change, atMs } of events) if (isInWindow(atMs, periodSeconds * 1000, nowMs)) sum += change;
  return sum;
}
