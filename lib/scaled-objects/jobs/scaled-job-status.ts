import { formatTimestamp } from '#lib/time/timestamp.ts';

import {
  ACTIVE,
  condition,
  conditionStatus,
  type ObjectCondition,
  setConditions,
} from '../api/conditions.ts';
import type { ObjectEvents } from '../api/object-events.ts';
import type { ScaledJob, ScaledJobStatus } from '../api/scaled-job.ts';

import type { PreparedScaledJob } from '../preparation/prepared-scaled-job.ts';
import { type PreparedTriggers, preparedMetrics } from '../preparation/prepared-triggers.ts';
import type { CreatedJobs } from './create-jobs.ts';

/** Conditions with the exact texts of KEDA. */
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
  ...ACTIVE,
  /** Triggers are not polled. */
  activePaused: condition('Active', 'Unknown', 'ScaledJobPaused', 'ScaledJob is paused'),
  paused: condition('Paused', 'True', 'ScaledJobPaused', 'ScaledJob is paused'),
  unpaused: condition('Paused', 'False', 'ScaledJobUnpaused', 'ScaledJob is unpaused'),
} as const;

export function jobCheckFailed(message: string): readonly ObjectCondition[] {
  return [
    condition('Ready', 'False', 'ScaledJobCheckFailed', message),
    condition('Active', 'Unknown', 'UnknownState', 'ScaledJob check failed'),
  ];
}

const ACTIVE_WRITE_MS = 60_000;

/** The status after an evaluation of the triggers. */
export function statusOf(
  object: ScaledJob,
  {
    prepared,
    plan,
    isActive,
    ready,
    triggersActivity,
    nowMs,
  }: CreatedJobs & {
    readonly prepared: PreparedScaledJob;
    readonly plan: PreparedTriggers;
    readonly nowMs: number;
  },
): ScaledJobStatus {
  const { status: before } = object;
  const written = before?.lastActiveTime;
  const isDue = isActive === true && (!written || Math.abs(nowMs - Date.parse(written)) >= ACTIVE_WRITE_MS);
  const wasPaused = before?.conditions?.some(({ type, reason }) => type === 'Paused' && reason !== undefined);
  return {
    ...before,
    ...(isDue && { lastActiveTime: formatTimestamp(nowMs) }),
    Paused: 'false',
    externalMetricNames: preparedMetrics(plan).map(({ metricName }) => metricName),
    ...prepared.statusFields,
    triggersActivity,
    conditions: setConditions('ScaledJob', before?.conditions, [
      ...(ready === undefined && hasTriggerError(before) ? [] : [JOB_CONDITIONS[ready ?? 'ready']]),
      ...(isActive === undefined ? [] : [isActive ? JOB_CONDITIONS.active : JOB_CONDITIONS.notActive]),
      ...(wasPaused ? [JOB_CONDITIONS.unpaused] : []),
    ]),
  };
}

/** Whether triggers failed when they were polled last, perhaps by the replica that led before. */
function hasTriggerError(status: ScaledJobStatus | undefined): boolean {
  const { partialError, triggerError } = JOB_CONDITIONS;
  const reason = status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
  return reason === partialError.reason || reason === triggerError.reason;
}

export function pausedStatus({ status }: ScaledJob): ScaledJobStatus {
  const { triggersActivity: _, ...before } = status ?? {};
  const { paused, readyPaused, activePaused } = JOB_CONDITIONS;
  const conditions = setConditions('ScaledJob', before.conditions, [paused, readyPaused, activePaused]);
  return { ...before, Paused: 'true', conditions };
}

/** Records an event when a pause begins or ends. */
export function recordPaused({ status }: ScaledJob, isPaused: boolean, own: ObjectEvents): void {
  const wasPaused = conditionStatus(status?.conditions, 'Paused') === 'True';
  if (isPaused && !wasPaused) own.normal('ScaledJobPaused', 'ScaledJob is paused');
  if (!isPaused && wasPaused) own.normal('ScaledJobUnpaused', 'ScaledJob is unpaused');
}

/** Records an event when the object becomes ready, active or inactive. */
export function recordChanges(
  { status: before }: ScaledJob,
  after: ScaledJobStatus,
  own: ObjectEvents,
): void {
  const isNow = (status: ScaledJobStatus | undefined, type: string) =>
    conditionStatus(status?.conditions, type);
  if (isNow(before, 'Ready') !== 'True' && isNow(after, 'Ready') === 'True')
    own.normal('ScaledJobReady', 'ScaledJob is ready for scaling');
  const { active, notActive } = JOB_CONDITIONS;
  if (isNow(before, 'Active') !== 'True' && isNow(after, 'Active') === 'True')
    own.normal('ScaledJobActive', active.message ?? '');
  if (isNow(before, 'Active') === 'True' && isNow(after, 'Active') === 'False')
    own.normal('ScaledJobInactive', notActive.message ?? '');
}
