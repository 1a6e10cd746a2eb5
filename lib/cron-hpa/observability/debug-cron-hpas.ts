import { debugEndpoint } from '#lib/apiserver/debug-endpoint.ts';
import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import { badRequest, notFound } from '#lib/apiserver/http/status-error.ts';
import { ADJUST_HPA_MIN, CRON_HPA, type CronHpa } from '../cron-hpa.ts';
import {
  dueActivations,
  nextActivation,
  type PlannedJob,
  type PlanOptions,
  planJobs,
} from '../planned-jobs.ts';
import { hindranceOf, type OtherScalers } from '../target-conflicts.ts';

/** What is known of objects here. */
export interface DebuggedCronHpas {
  values(): Iterable<CronHpa>;
  find(namespace: string, name: string): CronHpa | undefined;
  /** Who else scales the target of an object. */
  others(object: CronHpa): OtherScalers;
  /** As of now. */
  planOptions(): PlanOptions;
}

/** Of so many objects something is told unless `limit` says otherwise. */
const DEFAULT_LIMIT = 1000;

/**
 * `/debug/cronhpas?namespace=&name=`: what jobs objects have, when they are next due, how they went, what they move and why. All
 * replicas tell the same, from the objects alone. Without a name all objects in short, those first that are not ready; `limit` cuts
 * the list.
 */
export function debugCronHpas(known: DebuggedCronHpas): Endpoint {
  return debugEndpoint(['namespace', 'name', 'limit'], (query) => {
    const [namespace, name] = [query.get('namespace') ?? '', query.get('name') ?? ''];
    if (name !== '' && namespace === '') throw badRequest('a name needs a namespace');
    if (name !== '') return inFull(known, namespace, name);
    return inShort(known, namespace, limitOf(query.get('limit')));
  });
}

function inFull(known: DebuggedCronHpas, namespace: string, name: string) {
  const object = known.find(namespace, name);
  if (!object) throw notFound({ group: CRON_HPA.group, resource: CRON_HPA.plural }, `${namespace}/${name}`);
  return describeCronHpa(object, { ...known.planOptions(), ...known.others(object) });
}

/** From statuses alone: planning the jobs of ten thousand objects would keep others waiting. */
function inShort(known: DebuggedCronHpas, namespace: string, limit: number) {
  const objects = [...known.values()].filter((object) => namespace === '' || object.namespace === namespace);
  const isReady = ({ status }: CronHpa) => status.ready?.status === 'True';
  const inOrder = [...objects.filter((object) => !isReady(object)), ...objects.filter(isReady)];
  return {
    total: objects.length,
    ready: objects.filter(isReady).length,
    items: inOrder.slice(0, limit).map(({ namespace, name, spec, status }) => ({
      namespace,
      name,
      target: `${spec.scaleTargetRef.kind} ${spec.scaleTargetRef.name}`,
      jobs: spec.jobs.length,
      nextScheduleTime: status.nextScheduleTime,
      lastResult: status.lastResult,
      ready: status.ready?.status ?? 'Unknown',
      reason: status.ready?.reason,
      message: status.ready?.message,
    })),
  };
}

function limitOf(text: string | null): number {
  if (text === null) return DEFAULT_LIMIT;
  if (!/^\d{1,6}$/.test(text)) throw badRequest('limit must be a whole number');
  return Number(text);
}

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
