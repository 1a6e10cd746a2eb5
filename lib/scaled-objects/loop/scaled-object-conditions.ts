import type { ObjectCondition } from '../objects/scaled-object.ts';

/** Conditions of which an object has each from its beginning. */
const INITIAL: readonly ObjectCondition[] = [
  { type: 'Ready', status: 'Unknown' },
  { type: 'Active', status: 'Unknown' },
  { type: 'Fallback', status: 'Unknown' },
  { type: 'Paused', status: 'False' },
];

/** The conditions with some of them as they are now; the others stay. */
export function withConditions(
  before: readonly ObjectCondition[] | undefined,
  found: readonly ObjectCondition[],
): readonly ObjectCondition[] {
  const byType = new Map(INITIAL.map((one) => [one.type, one]));
  for (const { type, status, reason, message } of [...(before ?? []), ...found])
    byType.set(type, { type, status, ...(reason && { reason }), ...(message && { message }) });
  return [...byType.values()];
}

/** The status of a condition. */
export function statusOf(
  conditions: readonly ObjectCondition[] | undefined,
  type: string,
): ObjectCondition['status'] {
  return conditions?.find((one) => one.type === type)?.status ?? 'Unknown';
}

const condition = (
  type: string,
  status: ObjectCondition['status'],
  reason: string,
  message: string,
): ObjectCondition => ({ type, status, reason, message });

/** What a ScaledObject says of itself. */
export const CONDITIONS = {
  ready: condition(
    'Ready',
    'True',
    'ScaledObjectReady',
    'ScaledObject is defined correctly and is ready for scaling',
  ),
  readyPaused: condition('Ready', 'True', 'ScaledObjectReady', 'ScaledObject is paused'),
  partialError: condition(
    'Ready',
    'Unknown',
    'PartialTriggerError',
    'Some triggers defined in ScaledObject are not working correctly',
  ),
  triggerError: condition(
    'Ready',
    'False',
    'TriggerError',
    'Triggers defined in ScaledObject are not working correctly',
  ),
  active: condition('Active', 'True', 'ScalerActive', 'Scaling is performed because triggers are active'),
  forced: condition(
    'Active',
    'True',
    'ScalerActive',
    'Scaling is performed because activation is being forced by annotation',
  ),
  notActive: condition(
    'Active',
    'False',
    'ScalerNotActive',
    'Scaling is not performed because triggers are not active',
  ),
  cooldown: condition(
    'Active',
    'False',
    'ScalerCooldown',
    'Scaler cooling down because triggers are not active',
  ),
  /** Nobody asks its triggers. */
  activePaused: condition('Active', 'Unknown', 'ScaledObjectPaused', 'ScaledObject is paused'),
  unknownState: condition('Active', 'Unknown', 'UnknownState', 'ScaledObject check failed'),
  fallback: condition(
    'Fallback',
    'True',
    'FallbackExists',
    'At least one trigger is falling back on this scaled object',
  ),
  noFallback: condition(
    'Fallback',
    'False',
    'NoFallbackFound',
    'No fallbacks are active on this scaled object',
  ),
  paused: condition('Paused', 'True', 'ScaledObjectPaused', 'ScaledObject is paused'),
  unpaused: condition('Paused', 'False', 'ScaledObjectUnpaused', 'pause annotation removed for ScaledObject'),
} as const;

/** That the object cannot be used as it is. */
export function checkFailed(message: string): readonly ObjectCondition[] {
  return [condition('Ready', 'False', 'ScaledObjectCheckFailed', message), CONDITIONS.unknownState];
}

/** That the target's replicas cannot be read. */
export function replicasUnreadable(reason: string): ObjectCondition {
  return condition(
    'Ready',
    'False',
    'ErrorGettingCurrentReplicas',
    `Error getting current replicas count for ScaleTarget: ${reason}`,
  );
}

interface HpaCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** What the HPA says of its scaling; `undefined` while it says nothing. */
export function hpaActive(conditions: readonly HpaCondition[] | undefined): ObjectCondition | undefined {
  const found = conditions?.find(({ type }) => type === 'ScalingActive');
  if (!found) return undefined;
  const { status, reason = '', message = '' } = found;
  if (status === 'True') return condition('HPAActive', 'True', 'HPAActive', 'HPA is actively scaling');
  if (reason === 'ScalingDisabled') return condition('HPAActive', 'True', reason, message);
  return condition(
    'HPAActive',
    'False',
    reason || 'HPAMetricsUnavailable',
    `HPA is not actively scaling: ${message}`,
  );
}
