import { debugEndpoint } from '#lib/apiserver/debug-endpoint.ts';
import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import { badRequest, notFound } from '#lib/apiserver/http/status-error.ts';
import { adjustmentOf, CRON_HPA, type CronHpa, needsHpa } from '../cron-hpa.ts';
import {
  dueActivations,
  nextActivation,
  type PlannedJob,
  type PlanOptions,
  planJobs,
} from '../planned-jobs.ts';
import { findBlocker, type OtherScalers } from '../target-conflicts.ts';

/** The cached objects and their conflicts. */
export interface DebuggedCronHpas {
  values(): Iterable<CronHpa>;
  /** Objects of several kinds may have one name; the own kind is first. */
  findAll(namespace: string, name: string): readonly CronHpa[];
  /** Other scalers of the target. */
  others(object: CronHpa): OtherScalers;
  planOptions(): PlanOptions;
}

/** Default maximum of listed objects. */
const DEFAULT_LIMIT = 1000;

/**
 * `/debug/cronhpas?namespace=&name=`: the jobs of an object with their next and last activations, what they set, and why;
 * in `sameName`, the same of objects of other kinds. Each replica returns the same, from the objects alone. Without a
 * name: a summary of all objects, those first that are not ready, at most `limit`.
 */
export function debugCronHpas(cronHpas: DebuggedCronHpas): Endpoint {
  return debugEndpoint(['namespace', 'name', 'limit'], (query) => {
    const [namespace, name] = [query.get('namespace') ?? '', query.get('name') ?? ''];
    if (name !== '' && namespace === '')
      throw badRequest('the parameter "name" requires the parameter "namespace"');
    if (name !== '') return inFull(cronHpas, namespace, name);
    return inShort(cronHpas, namespace, limitOf(query.get('limit')));
  });
}

function inFull(cronHpas: DebuggedCronHpas, namespace: string, name: string) {
  const [first, ...more] = describeAll(cronHpas, namespace, name);
  return more.length > 0 ? { ...first, sameName: more } : first;
}

/** Describes each object of a name. @throws not found, as a StatusError */
export function describeAll(
  cronHpas: DebuggedCronHpas,
  namespace: string,
  name: string,
): readonly [CronHpaDescription, ...CronHpaDescription[]] {
  const [first, ...more] = cronHpas.findAll(namespace, name);
  if (!first) throw notFound({ group: CRON_HPA.group, resource: CRON_HPA.plural }, `${namespace}/${name}`);
  const options = cronHpas.planOptions();
  const describe = (object: CronHpa) => describeCronHpa(object, { ...options, ...cronHpas.others(object) });
  return [describe(first), ...more.map(describe)];
}

export type CronHpaDescription = ReturnType<typeof describeCronHpa>;

/** Reads statuses only: planning the jobs of ten thousand objects would block other requests. */
function inShort(cronHpas: DebuggedCronHpas, namespace: string, limit: number) {
  const objects = [...cronHpas.values()].filter(
    (object) => namespace === '' || object.namespace === namespace,
  );
  const isReady = ({ status }: CronHpa) => status.ready?.status === 'True';
  const inOrder = [...objects.filter((object) => !isReady(object)), ...objects.filter(isReady)];
  return {
    total: objects.length,
    ready: objects.filter(isReady).length,
    items: inOrder.slice(0, limit).map(({ group, namespace, name, spec, status }) => ({
      group,
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
  if (!/^\d{1,6}$/.test(text))
    throw badRequest('the parameter "limit" must be an integer of at most 6 digits');
  return Number(text);
}

/** Describes the jobs of an object, what they set, and its blocker. */
export function describeCronHpa(object: CronHpa, options: PlanOptions & OtherScalers) {
  const { group, namespace, name, spec, status } = object;
  const jobs = planJobs(object, options);
  const { run, missed } = dueActivations(jobs, {
    nowMs: options.nowMs,
    deadlineMs: (spec.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000,
  });
  const next = nextActivation(jobs);
  return {
    group,
    namespace,
    name,
    target: spec.scaleTargetRef,
    sets: describeSetting(object, options.hpa),
    blocker: findBlocker(object, options),
    next: next && { job: next.planned.job.name, time: timeOf(next.atMs) },
    /** The activation that the leader runs next; `undefined` most of the time. */
    due: run && { job: run.planned.job.name, time: timeOf(run.atMs) },
    missed: missed.map(({ planned, count, why }) => ({ job: planned.job.name, count, why })),
    lastResult: status.lastResult,
    lastScheduleTime: status.lastScheduleTime,
    scaleUpKeepWindow: status.scaleUpKeepWindow,
    ready: status.ready,
    jobs: jobs.map((planned) => describeJob(planned, options.nowMs)),
  };
}

/** What the jobs of an object set, and why. */
function describeSetting(object: CronHpa, hpa: OtherScalers['hpa']) {
  const { kind, name } = object.spec.scaleTargetRef;
  const target = `${kind} ${JSON.stringify(name)}`;
  if (hpa) {
    const { minReplicas, maxReplicas } = hpa;
    const why = `HorizontalPodAutoscaler ${JSON.stringify(hpa.name)} scales ${target} between minReplicas and maxReplicas`;
    const what = adjustmentOf(object) === 'hold' ? 'minReplicas and maxReplicas' : 'minReplicas';
    return { what, of: hpa.name, minReplicas, maxReplicas, why };
  }
  return needsHpa(object)
    ? {
        what: 'nothing',
        why: `no HorizontalPodAutoscaler scales ${target}, and the jobs set minReplicas`,
      }
    : { what: 'replicas', of: name, why: `no HorizontalPodAutoscaler scales ${target}` };
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
      : (problem ??
        (job.suspend
          ? 'suspend is true'
          : `${job.runOnce ? 'runOnce is true' : 'it has one date'}, and the job has run`)),
    state: condition?.state ?? 'not reconciled yet',
    lastActivation: condition?.lastActivationTime,
    message: condition?.message,
  };
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
