import { CRON_HPA, type CronHpa, type CronHpaStatus } from '../objects/cron-hpa.ts';
import type { MissedActivations } from '../plan/due-activations.ts';
import { missedMessage, type Outcome } from '../statuses/next-status.ts';

/** An event about an object. */
export interface CronHpaEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** What happened at a look at an object. */
export interface Happened {
  readonly status: CronHpaStatus;
  readonly outcome: Outcome | undefined;
  readonly missed: readonly MissedActivations[];
}

/** What to tell of a look at an object: only what its status did not tell before. */
export function eventsOf(object: CronHpa, { status, outcome, missed }: Happened): readonly CronHpaEvent[] {
  return [
    ...missed.map(
      (one) => ({ type: 'Warning', reason: 'ScheduleMissed', message: missedMessage(one) }) as const,
    ),
    ...outcomeEvents(object, outcome),
    ...readyEvents(object, status),
  ];
}

/** The object as events name it. */
export function referenceTo({ namespace, name, uid, resourceVersion }: CronHpa) {
  const { group, version, kind } = CRON_HPA;
  return { apiVersion: `${group}/${version}`, kind, namespace, name, uid, resourceVersion };
}

function outcomeEvents({ status }: CronHpa, outcome: Outcome | undefined): readonly CronHpaEvent[] {
  if (!outcome) return [];
  const { planned, state, message, change } = outcome;
  if (state === 'Succeed') return change === 0 ? [] : [{ type: 'Normal', reason: 'Scaled', message }];
  const known = status.jobs.find(({ name }) => name === planned.job.name);
  return known?.message === message ? [] : [{ type: 'Warning', reason: 'ScalingFailed', message }];
}

function readyEvents({ status: before }: CronHpa, { ready }: CronHpaStatus): readonly CronHpaEvent[] {
  const isTold =
    ready?.status !== 'False' || ready.reason === 'ScalingFailed' || ready.message === before.ready?.message;
  return isTold ? [] : [{ type: 'Warning', reason: ready.reason, message: ready.message }];
}
