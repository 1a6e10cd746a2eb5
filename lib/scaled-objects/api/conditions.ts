export const condition = (
  type: string,
  status: ObjectCondition['status'],
  reason: string,
  message: string,
): ObjectCondition => ({ type, status, reason, message });

/** The conditions of a ScaledJob with some of them as they are now; the others stay. */
export function withJobConditions(
  before: readonly ObjectCondition[] | undefined,
  found: readonly ObjectCondition[],
): readonly ObjectCondition[] {
  const byType = new Map<string, ObjectCondition>([
    ['Ready', { type: 'Ready', status: 'Unknown' }],
    ['Active', { type: 'Active', status: 'Unknown' }],
    ['Paused', { type: 'Paused', status: 'False' }],
  ]);
  for (const one of [...(before ?? []), ...found]) byType.set(one.type, one);
  return [...byType.values()];
}

/** A condition as these kinds have it: without times and generations. */
export interface ObjectCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
}
