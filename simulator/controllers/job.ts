import { deleteObject } from '../objects/deletion.ts';
import { fieldAt, formatTimestamp, type KubernetesObject } from '../objects/kubernetes-object.ts';
import type { ControllerContext } from './controller-context.ts';
import {
  condition,
  createPod,
  deleteControlled,
  isActive,
  phaseOf,
  readySinceMs,
  type WorkloadSpec,
  workloadSpec,
  writeStatus,
} from './workload.ts';

const JOBS = 'jobs.batch';

/** Runs pods of a Job until as many have succeeded as it wants, or more have failed than it bears. */
export function syncJob(job: KubernetesObject, context: ControllerContext): void {
  const { name, namespace, uid, deletionTimestamp } = job.metadata;
  if (deletionTimestamp !== undefined) return;
  const spec = workloadSpec(job);
  if (outcomeOf(job) !== undefined) {
    removeWhenDue(job, spec, context);
    return;
  }
  const podsNow = () => context.dependents.controlledBy(uid, 'pods');
  const succeeded = podsNow().filter((pod) => phaseOf(pod) === 'Succeeded').length;
  const failed = podsNow().filter((pod) => phaseOf(pod) === 'Failed').length;
  const outcome = decide(spec, { succeeded, failed, active: podsNow().filter(isActive).length });
  const remaining = spec.completions === undefined ? spec.parallelism : spec.completions - succeeded;
  // Without a number of completions the first success ends the work, and nothing new begins.
  const mayBegin =
    outcome === undefined && !spec.suspend && (spec.completions !== undefined || succeeded === 0);
  const wanted = outcome !== undefined || spec.suspend ? 0 : Math.min(spec.parallelism, remaining);
  const active = podsNow().filter(isActive);
  if (mayBegin) for (let missing = wanted - active.length; missing > 0; missing--) createPod(job, context);
  for (const pod of active.slice(wanted))
    if (mayBegin || wanted === 0) deleteControlled(pod, 'pods', context);
  const present = podsNow().filter(isActive);
  const now = formatTimestamp(context.clock.nowMs());
  const status = {
    ...(spec.suspend ? {} : { startTime: fieldAt(job, 'status', 'startTime') ?? now }),
    ...(present.length > 0 ? { active: present.length } : {}),
    ready: present.filter((pod) => readySinceMs(pod) !== undefined).length,
    ...(succeeded > 0 ? { succeeded } : {}),
    ...(failed > 0 ? { failed } : {}),
    ...(outcome === 'Complete' ? { completionTime: now } : {}),
    ...conditionsOf(job, { outcome, isSuspended: spec.suspend, context }),
  };
  const latest = context.store.get(JOBS, namespace, name);
  if (latest) writeStatus(latest, JOBS, { status, context });
}

type Outcome = 'Complete' | 'Failed';

function outcomeOf(job: KubernetesObject): Outcome | undefined {
  const conditions = fieldAt(job, 'status', 'conditions');
  const ended = (Array.isArray(conditions) ? conditions : []).find(
    (one) => ['Complete', 'Failed'].includes(one?.type) && one?.status === 'True',
  );
  return ended?.type;
}

function decide(
  { completions, backoffLimit }: WorkloadSpec,
  {
    succeeded,
    failed,
    active,
  }: { readonly succeeded: number; readonly failed: number; readonly active: number },
): Outcome | undefined {
  if (failed > backoffLimit) return 'Failed';
  if (completions === undefined) return succeeded > 0 && active === 0 ? 'Complete' : undefined;
  return succeeded >= completions ? 'Complete' : undefined;
}

function conditionsOf(
  job: KubernetesObject,
  {
    outcome,
    isSuspended,
    context,
  }: { outcome: Outcome | undefined; isSuspended: boolean; context: ControllerContext },
) {
  const known = fieldAt(job, 'status', 'conditions');
  const wasSuspended = Array.isArray(known) && known.some((one) => one?.type === 'Suspended');
  const conditions = [
    ...(isSuspended || wasSuspended
      ? [
          isSuspended
            ? { type: 'Suspended', status: 'True' as const, reason: 'JobSuspended', message: 'Job suspended' }
            : { type: 'Suspended', status: 'False' as const, reason: 'JobResumed', message: 'Job resumed' },
        ]
      : []),
    ...(outcome === 'Complete'
      ? [
          {
            type: 'Complete',
            status: 'True' as const,
            reason: 'CompletionsReached',
            message: 'Reached expected number of succeeded pods',
          },
        ]
      : []),
    ...(outcome === 'Failed'
      ? [
          {
            type: 'Failed',
            status: 'True' as const,
            reason: 'BackoffLimitExceeded',
            message: 'Job has reached the specified backoff limit',
          },
        ]
      : []),
  ];
  if (conditions.length === 0) return {};
  return {
    conditions: conditions.map((facts) => {
      const { lastUpdateTime: _update, ...one } = condition(job, facts, context);
      return one;
    }),
  };
}

function removeWhenDue(
  job: KubernetesObject,
  { ttlSecondsAfterFinished: ttl }: WorkloadSpec,
  context: ControllerContext,
): void {
  if (ttl === undefined) return;
  const conditions = fieldAt(job, 'status', 'conditions');
  const endedAt = (Array.isArray(conditions) ? conditions : []).find((one) =>
    ['Complete', 'Failed'].includes(one?.type),
  );
  const waitMs = Date.parse(String(endedAt?.lastTransitionTime)) + ttl * 1000 - context.clock.nowMs();
  const { namespace, name } = job.metadata;
  if (waitMs > 0) context.again({ storage: JOBS, namespace, name }, waitMs);
  else deleteObject(job, { store: context.store, clock: context.clock, storage: JOBS });
}
