import { setCondition } from '#lib/control/conditions.ts';

/** A condition of KEDA's kinds, which have no transition time and no generation. */
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

/** Conditions of both kinds, with the exact texts of KEDA. */
export const ACTIVE = {
  active: condition('Active', 'True', 'ScalerActive', 'Scaling is performed because triggers are active'),
  notActive: condition(
    'Active',
    'False',
    'ScalerNotActive',
    'Scaling is not performed because triggers are not active',
  ),
} as const;

/** Initial conditions of each kind, in KEDA's order. */
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

/** Merges observed conditions into those of an object. Empty reasons and messages are omitted. */
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

/** @returns `Unknown` if there is no such condition */
export function conditionStatus(
  conditions: readonly ObjectCondition[] | undefined,
  type: string,
): ObjectCondition['status'] {
  return conditions?.find((one) => one.type === type)?.status ?? 'Unknown';
}

export function isReady(conditions: readonly ObjectCondition[] = []): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
