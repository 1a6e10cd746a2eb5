import { fieldAt, formatTimestamp, type KubernetesObject } from '../objects/kubernetes-object.ts';
import type { ControllerContext } from './controller-context.ts';
import {
  condition,
  createPod,
  deleteControlled,
  isActive,
  isReady,
  phaseOf,
  type WorkloadSpec,
  workloadSpec,
  writeStatus,
} from './workload.ts';

const JOBS = 'jobs.batch';

/** Runs pods of a Job until `completions` have succeeded or more than `backoffLimit` have failed. */
export function syncJob(job: KubernetesObject, context: ControllerContext): void {
  const { name, namespace, uid, deletionTimestamp } = job.metadata;
  if (deletionTimestamp !== undefined) return;
  const spec = workloadSpec(job);
  if (hasEnded(job)) return;
  const podsNow = () => context.dependents.controlledBy(uid, 'pods');
  const succeeded = podsNow().filter((pod) => phaseOf(pod) === 'Succeeded').length;
  const failed = podsNow().filter((pod) => phaseOf(pod) === 'Failed').length;
  const outcome = decide(spec, { succeeded, failed, active: podsNow().filter(isActive).length });
  const remaining = spec.completions === undefined ? spec.parallelism : spec.completions - succeeded;
  // Without completions, no pod starts after the first success.
  const mayStart = outcome === undefined && (spec.completions !== undefined || succeeded === 0);
  const desired = outcome === undefined ? Math.min(spec.parallelism, remaining) : 0;
  const active = podsNow().filter(isActive);
  if (mayStart) for (let missing = desired - active.length; missing > 0; missing--) createPod(job, context);
  for (const pod of active.slice(desired))
    if (mayStart || desired === 0) deleteControlled(pod, 'pods', context);
  const present = podsNow().filter(isActive);
  const now = formatTimestamp(context.clock.nowMs());
  const status = {
    startTime: fieldAt(job, 'status', 'startTime') ?? now,
    ...(present.length > 0 ? { active: present.length } : {}),
    ready: present.filter(isReady).length,
    ...(succeeded > 0 ? { succeeded } : {}),
    ...(failed > 0 ? { failed } : {}),
    ...(outcome === 'Complete' ? { completionTime: now } : {}),
    ...(outcome && { conditions: [endCondition(job, outcome, context)] }),
  };
  const latest = context.store.get(JOBS, namespace, name);
  if (latest) writeStatus(latest, JOBS, { status, context });
}

type Outcome = 'Complete' | 'Failed';

function hasEnded(job: KubernetesObject): boolean {
  const conditions = fieldAt(job, 'status', 'conditions');
  return (
    Array.isArray(conditions) &&
    conditions.some((one) => ['Complete', 'Failed'].includes(one?.type) && one.status === 'True')
  );
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

function endCondition(job: KubernetesObject, outcome: Outcome, context: ControllerContext) {
  const [reason, message] =
    outcome === 'Complete'
      ? ['CompletionsReached', 'Reached expected number of succeeded pods']
      : ['BackoffLimitExceeded', 'Job has reached the specified backoff limit'];
  const { lastUpdateTime: _, ...ended } = condition(
    job,
    { type: outcome, status: 'True', reason, message },
    context,
  );
  return ended;
}
