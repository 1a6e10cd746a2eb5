import { CRON_HPA, type CronHpa, type CronHpaStatus } from '../cron-hpa.ts';
import type { MissedActivations } from '../planned-jobs.ts';
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
    ...scaledEvents(outcome),
    ...readyEvents(object, status, outcome),
  ];
}

/** The object as events name it. */
export function referenceTo({ namespace, name, uid, resourceVersion }: CronHpa) {
  const { group, version, kind } = CRON_HPA;
  return { apiVersion: `${group}/${version}`, kind, namespace, name, uid, resourceVersion };
}

function scaledEvents(outcome: Outcome | undefined): readonly CronHpaEvent[] {
  if (outcome?.state !== 'Succeed' || outcome.change === 0) return [];
  return [{ type: 'Normal', reason: 'Scaled', message: outcome.message }];
}

/** The condition Ready tells causes alone, so it is the same from one activation that fails to the next. */
function readyEvents(
  { status: before }: CronHpa,
  { ready }: CronHpaStatus,
  outcome: Outcome | undefined,
): readonly CronHpaEvent[] {
  if (ready?.status !== 'False' || ready.message === before.ready?.message) return [];
  const message = outcome?.state === 'Failed' ? outcome.message : ready.message;
  return [{ type: 'Warning', reason: ready.reason, message }];
}
