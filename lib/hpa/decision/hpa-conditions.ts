import { removeCondition, setCondition } from '#lib/control/conditions.ts';
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

/** Sets or removes conditions one after the other; the last change of a type counts. */
export function changeConditions(
  conditions: readonly HpaCondition[],
  changes: readonly (ConditionChange | ConditionRemoval)[],
  nowMs: number,
): readonly HpaCondition[] {
  return changes.reduce((list, change) => {
    if ('isRemoved' in change) return removeCondition(list, change.type);
    const { type, isTrue, reason, message } = change;
    return setCondition(list, { type, status: isTrue ? 'True' : 'False', reason, message }, nowMs);
  }, conditions);
}
