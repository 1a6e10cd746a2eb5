import { ADJUST_HPA_MIN, type CronHpa } from '../cron-hpa.ts';
import {
  dueActivations,
  nextActivation,
  type PlannedJob,
  type PlanOptions,
  planJobs,
} from '../planned-jobs.ts';
import { hindranceOf, type OtherScalers } from '../target-conflicts.ts';

/** What is told of an object: what its jobs are, what they move, and why. */
export function describeCronHpa(object: CronHpa, options: PlanOptions & OtherScalers) {
  const { namespace, name, spec, status } = object;
  const jobs = planJobs(object, options);
  const { run, missed } = dueActivations(jobs, {
    nowMs: options.nowMs,
    deadlineMs: (spec.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000,
  });
  const next = nextActivation(jobs, options.nowMs);
  return {
    namespace,
    name,
    target: spec.scaleTargetRef,
    moves: movedBy(object, options.hpa),
    hindrance: hindranceOf(object, options),
    next: next && { job: next.planned.job.name, time: timeOf(next.atMs) },
    /** What the leader is to do now; empty but for a moment. */
    due: run && { job: run.planned.job.name, time: timeOf(run.atMs) },
    missed: missed.map(({ planned, count, why }) => ({ job: planned.job.name, count, why })),
    lastResult: status.lastResult,
    lastScheduleTime: status.lastScheduleTime,
    scaleUpKeepWindow: status.scaleUpKeepWindow,
    ready: status.ready,
    jobs: jobs.map((planned) => describeJob(planned, options.nowMs)),
  };
}

/** What a job sets, and why that. */
function movedBy(object: CronHpa, hpa: OtherScalers['hpa']) {
  const { kind, name } = object.spec.scaleTargetRef;
  const target = `${kind} ${JSON.stringify(name)}`;
  if (hpa) {
    const { minReplicas, maxReplicas } = hpa;
    const why = `HorizontalPodAutoscaler ${JSON.stringify(hpa.name)} scales ${target}, and goes on above what jobs set`;
    return { what: 'minReplicas', of: hpa.name, minReplicas, maxReplicas, why };
  }
  const isAsked = object.annotations[ADJUST_HPA_MIN] === 'true' || kind === 'HorizontalPodAutoscaler';
  return isAsked
    ? {
        what: 'nothing',
        why: `no HorizontalPodAutoscaler scales ${target}, whose minReplicas are to be moved`,
      }
    : { what: 'replicas', of: name, why: `nothing else scales ${target}` };
}

function describeJob({ job, timeZone, condition, schedule, problem, sinceMs }: PlannedJob, nowMs: number) {
  const nextMs = schedule?.next(Math.max(sinceMs, nowMs));
  return {
    name: job.name,
    schedule: job.schedule,
    timeZone,
    targetSize: job.targetSize,
    next: nextMs === undefined ? undefined : timeOf(nextMs),
    neverDueBecause: schedule
      ? undefined
      : (problem ?? (job.suspend ? 'suspend is true' : 'runOnce is true, and it has run')),
    state: condition?.state ?? 'not seen yet by the leader',
    lastActivation: condition?.lastActivationTime,
    message: condition?.message,
  };
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
