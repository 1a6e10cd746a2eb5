import type { CronHpa, CronHpaJob, CronHpaSpec, CronHpaStatus } from '#lib/cron-hpa/cron-hpa.ts';
import { type PlannedJob, planJobs } from '#lib/cron-hpa/planned-jobs.ts';
import type { Hpa } from '#lib/cron-hpa/target-conflicts.ts';
import { Schedules } from '#lib/schedule/parse-schedule.ts';

const schedules = new Schedules();

/** A job that sets 3 replicas each morning, with changes. */
export function job(changes: Partial<CronHpaJob> = {}): CronHpaJob {
  return {
    name: 'morning',
    schedule: '0 0 8 * * *',
    targetSize: 3,
    runOnce: false,
    suspend: false,
    excludeDates: [],
    ...changes,
  };
}

/** A CronHPA of the Deployment `default/web`, with changes. */
export function cronHpa({
  spec,
  status,
  ...changes
}: Partial<Omit<CronHpa, 'spec' | 'status'>> & {
  readonly spec?: Partial<CronHpaSpec>;
  readonly status?: Partial<CronHpaStatus>;
} = {}): CronHpa {
  return {
    group: 'autoscaling.stke.com',
    namespace: 'default',
    name: 'web',
    uid: 'uid-1',
    resourceVersion: '1',
    generation: 1,
    annotations: {},
    isBeingDeleted: false,
    specChangedAtMs: undefined,
    problem: undefined,
    ...changes,
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      jobs: [job()],
      excludeDates: [],
      ...spec,
    },
    status: { jobs: [], scaleUpKeepWindow: false, ...status },
  };
}

/** An HPA of the Deployment `default/web` with 2 to 5 replicas, with changes. */
export function hpa(changes: Partial<Hpa> = {}): Hpa {
  return {
    namespace: 'default',
    name: 'web',
    resourceVersion: '7',
    annotations: {},
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    minReplicas: 2,
    maxReplicas: 5,
    ...changes,
  };
}

/** The planned jobs of an object at a time in UTC. */
export function planAt(object: CronHpa, now: string): readonly PlannedJob[] {
  return planJobs(object, { nowMs: Date.parse(now), timeZone: 'UTC', schedules });
}

/** Jobs that were first observed at a time. */
export function jobsSince(since: string, ...jobs: readonly CronHpaJob[]): readonly PlannedJob[] {
  return planAt(cronHpa({ spec: { jobs } }), since);
}
