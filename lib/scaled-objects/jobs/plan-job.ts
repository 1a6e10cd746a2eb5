import { isDeepStrictEqual } from 'node:util';
import type { Collection, Collector } from '#lib/collection/collection.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import type { ObjectEvents } from '../objects/object-events.ts';
import type { ScaledJob } from '../objects/scaled-job.ts';
import { DEFAULT_POLLING_S } from '../objects/scaled-object.ts';
import { keepGood, REREAD_MS } from '../plan/kept-plans.ts';
import { planTriggers } from '../plan/plan-triggers.ts';
import type { PushFollowers } from '../plan/push-followers.ts';
import { tellStarted } from '../plan/tell-started.ts';
import { containerEnvironment } from '../triggers/authentication/container-environment.ts';
import { readerOfOne, UnreadReference } from '../triggers/authentication/reference-reader.ts';
import { type PlannedObject, planError, plannedMetrics } from '../triggers/planned-object.ts';
import { JobCheckFailure } from './check-scaled-job.ts';
import { type JobMemory, noteClocks } from './job-memory.ts';
import { rollOut } from './roll-out.ts';
import type { ScaledJobDependencies } from './scaled-job-dependencies.ts';

const VALID_INTERVALS = 3;
const TOO_MANY = 429;

type PlanOptions = ScaledJobDependencies & { readonly own: ObjectEvents; readonly signal: AbortSignal };

/** What is asked for an object; worked out again when it, or what it refers to, changes, and its old Jobs go then. */
export async function plannedFor(
  object: ScaledJob,
  memory: JobMemory,
  options: PlanOptions,
): Promise<PlannedObject> {
  const { clock, types, jobs, own, signal, authenticationsOf } = options;
  const { metadata, spec } = object;
  const authentications = authenticationsOf(object);
  const ageMs = clock.monotonicMs() - (memory.plan?.plannedAtMs ?? 0);
  const isSame = memory.plan?.uid === metadata.uid && memory.plan?.generation === metadata.generation;
  const isCurrent = isDeepStrictEqual(authentications, memory.authentications);
  if (memory.plan && isSame && isCurrent && (ageMs < REREAD_MS || authentications.length === 0))
    return memory.plan;
  const namespace = metadata.namespace ?? '';
  const isChanged = memory.plan !== undefined && !(isSame && isCurrent);
  const reader = readerOfOne(isChanged ? options.reader.fresh : options.reader);
  const environment = (containerName = spec.envSourceContainerName ?? '') =>
    containerEnvironment({ spec: spec.jobTargetRef }, containerName, reader.environmentOf(namespace, signal));
  const planned = await planTriggers(spec.triggers, {
    ...{ objectKind: 'ScaledJob', objectName: metadata.name, namespace, hasFormula: false },
    ...{ types, reader, environment, signal },
  });
  const triggers = memory.plan && isSame && isCurrent ? keepGood(memory.plan.triggers, planned) : planned;
  const error = planError({ triggers });
  if (error) throw error instanceof UnreadReference ? error : unmakeable(error);
  if (!isSame) {
    const createdAtMs = await jobs.create(object, { signal, dryRun: true }).catch((cause: unknown) => {
      signal.throwIfAborted();
      throw jobRefusal(cause);
    });
    noteClocks(memory, createdAtMs, clock);
    await rollOut(object, options);
    tellStarted(triggers, own);
  }
  memory.authentications = authentications;
  memory.plan = {
    uid: metadata.uid,
    generation: metadata.generation,
    triggers,
    plannedAtMs: clock.monotonicMs(),
  };
  return memory.plan;
}

/** What it means that a Job was refused: that it cannot be so; what is no reason of the object's stays as it is. */
export function jobRefusal(error: unknown): unknown {
  const isReason = error instanceof ApiError && error.statusCode < 500 && error.statusCode !== TOO_MANY;
  return isReason ? unmakeable(error) : error;
}

function unmakeable(cause: unknown): JobCheckFailure {
  return new JobCheckFailure('Failed to ensure ScaledJob is correctly created', { cause });
}

/** Has the sources of an object asked. */
export function collect(
  key: string,
  { metadata, spec }: ScaledJob,
  {
    plan,
    collection,
    pushes,
    memory,
  }: { plan: PlannedObject; collection: Collection; pushes: PushFollowers; memory: JobMemory },
): void {
  const intervalMs = (spec.pollingInterval ?? DEFAULT_POLLING_S) * 1000;
  const wish = {
    intervalMs,
    validForMs: VALID_INTERVALS * intervalMs,
    isSteady: true,
    onAsked: memory.onAsked,
    tenant: metadata.namespace,
  };
  const collectors = plannedMetrics(plan).map(({ metricName, query }): [string, Collector] => [
    metricName,
    { query, ...wish },
  ]);
  collection.replace(key, new Map(collectors));
  // All are asked: Jobs are made when all have told something, and what is pushed need not wait for the others' interval.
  pushes.replace(key, plan.triggers, { pollsAll: true });
}
