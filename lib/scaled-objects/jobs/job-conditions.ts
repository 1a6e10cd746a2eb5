import type { ObjectCondition } from '../objects/scaled-object.ts';

const condition = (
  type: string,
  status: ObjectCondition['status'],
  reason: string,
  message: string,
): ObjectCondition => ({ type, status, reason, message });

/** What a ScaledJob says of itself. */
export const JOB_CONDITIONS = {
  ready: condition(
    'Ready',
    'True',
    'ScaledJobReady',
    'ScaledJob is defined correctly and is ready for scaling',
  ),
  readyPaused: condition('Ready', 'True', 'ScaledJobReady', 'ScaledJob is paused, skipping reconcile loop'),
  partialError: condition(
    'Ready',
    'Unknown',
    'PartialTriggerError',
    'Some triggers defined in ScaledJob are not working correctly',
  ),
  triggerError: condition(
    'Ready',
    'False',
    'TriggerError',
    'Triggers defined in ScaledJob are not working correctly',
  ),
  active: condition('Active', 'True', 'ScalerActive', 'Scaling is performed because triggers are active'),
  notActive: condition(
    'Active',
    'False',
    'ScalerNotActive',
    'Scaling is not performed because triggers are not active',
  ),
  /** Nobody asks its triggers. */
  activePaused: condition('Active', 'Unknown', 'ScaledJobPaused', 'ScaledJob is paused'),
  paused: condition('Paused', 'True', 'ScaledJobPaused', 'ScaledJob is paused'),
  unpaused: condition('Paused', 'False', 'ScaledJobUnpaused', 'ScaledJob is unpaused'),
} as const;

/** That the object cannot be used as it is. */
export function jobCheckFailed(message: string): readonly ObjectCondition[] {
  return [
    condition('Ready', 'False', 'ScaledJobCheckFailed', message),
    condition('Active', 'Unknown', 'UnknownState', 'ScaledJob check failed'),
  ];
}

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
