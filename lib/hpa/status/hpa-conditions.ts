import type { HpaCondition } from '../objects/hpa-status.ts';

/** One condition as it is to be. */
export interface ConditionChange {
  readonly type: 'AbleToScale' | 'ScalingActive' | 'ScalingLimited';
  readonly isTrue: boolean;
  readonly reason: string;
  readonly message: string;
}

/**
 * Sets conditions one after the other; each keeps its place in the list, and its time while its status is the same.
 *
 * @param now RFC 3339
 */
export function withConditions(
  conditions: readonly HpaCondition[],
  changes: readonly ConditionChange[],
  now: string,
): readonly HpaCondition[] {
  const list = [...conditions];
  for (const { type, isTrue, reason, message } of changes) {
    const place = list.findIndex((one) => one.type === type);
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
