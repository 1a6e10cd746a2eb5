import type { HpaCondition } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';

/** A condition that is no more. */
export interface ConditionRemoval {
  readonly type: 'ScaledToZero';
  readonly isRemoved: true;
}

/** One condition as it is to be. */
export interface ConditionChange {
  readonly type: 'AbleToScale' | 'ScalingActive' | 'ScalingLimited' | 'ScaledToZero';
  readonly isTrue: boolean;
  readonly reason: string;
  readonly message: string;
}

/** With the feature off, no status says whether its HPA scaled to zero. */
export const NO_SCALED_TO_ZERO: ConditionRemoval = { type: 'ScaledToZero', isRemoved: true };

/**
 * Sets or removes conditions one after the other; each keeps its place in the list, and its time while its status is the same.
 *
 * @param now RFC 3339
 */
export function withConditions(
  conditions: readonly HpaCondition[],
  changes: readonly (ConditionChange | ConditionRemoval)[],
  now: string,
): readonly HpaCondition[] {
  const list = [...conditions];
  for (const change of changes) {
    const place = list.findIndex((one) => one.type === change.type);
    if ('isRemoved' in change) {
      if (place >= 0) list.splice(place, 1);
      continue;
    }
    const { type, isTrue, reason, message } = change;
    const status = isTrue ? 'True' : 'False';
    const before = list[place];
    const keepsTime = before?.status === status && before.lastTransitionTime !== undefined;
    const lastTransitionTime = keepsTime ? before.lastTransitionTime : now;
    const after = { type, status, lastTransitionTime, reason, message };
    if (place < 0) list.push(after);
    else list[place] = after;
  }
  return list;
}
