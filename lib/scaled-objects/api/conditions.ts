import { setCondition } from '#lib/control/conditions.ts';

/** A condition as KEDA's kinds have it: without times and generations. */
export interface ObjectCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
}

export const condition = (
  type: string,
  status: ObjectCondition['status'],
  reason: string,
  message: string,
): ObjectCondition => ({ type, status, reason, message });

/** Conditions that a kind has from the beginning, first in its list. */
const INITIAL: Readonly<Record<'ScaledObject' | 'ScaledJob', readonly ObjectCondition[]>> = {
  ScaledObject: [
    { type: 'Ready', status: 'Unknown' },
    { type: 'Active', status: 'Unknown' },
    { type: 'Fallback', status: 'Unknown' },
    { type: 'Paused', status: 'False' },
  ],
  ScaledJob: [
    { type: 'Ready', status: 'Unknown' },
    { type: 'Active', status: 'Unknown' },
    { type: 'Paused', status: 'False' },
  ],
};

/** The conditions of an object with some of them as observed now; the others stay. Empty reasons and messages are left out. */
export function setConditions(
  kind: keyof typeof INITIAL,
  before: readonly ObjectCondition[] | undefined,
  observed: readonly ObjectCondition[],
): readonly ObjectCondition[] {
  return [...(before ?? []), ...observed].reduce<readonly ObjectCondition[]>(
    (conditions, { type, status, reason, message }) =>
      setCondition(conditions, { type, status, ...(reason && { reason }), ...(message && { message }) }),
    INITIAL[kind],
  );
}

/** The status of a condition. */
export function conditionStatus(
  conditions: readonly ObjectCondition[] | undefined,
  type: string,
): ObjectCondition['status'] {
  return conditions?.find((one) => one.type === type)?.status ?? 'Unknown';
}

/** Whether an object does what it is meant to do. */
export function isReady(conditions: readonly ObjectCondition[] = []): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
