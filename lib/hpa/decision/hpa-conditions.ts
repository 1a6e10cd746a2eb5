import { removeCondition, setCondition } from '#lib/control/conditions.ts';
import type { HpaCondition } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';

export interface ConditionRemoval {
  readonly type: 'ScaledToZero';
  readonly isRemoved: true;
}

export interface ConditionChange {
  readonly type: 'AbleToScale' | 'ScalingActive' | 'ScalingLimited' | 'ScaledToZero';
  readonly isTrue: boolean;
  readonly reason: string;
  readonly message: string;
}

/** Without the feature gate, no status has the condition ScaledToZero. */
export const NO_SCALED_TO_ZERO: ConditionRemoval = { type: 'ScaledToZero', isRemoved: true };

/** Sets or removes conditions in order; the last change of a type wins. */
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
