import { isDeepStrictEqual } from 'node:util';
import type { Collection, Collector } from '#lib/collection/collection.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import type { ObjectEvents } from '../api/object-events.ts';
import type { ScaledJob } from '../api/scaled-job.ts';
import { DEFAULT_POLLING_S } from '../api/scaled-object.ts';
import type { PushFollowers } from '../metrics/push-scalers.ts';
import { tellStarted } from '../metrics/scaler-events.ts';
import { planTriggers } from '../preparation/prepare-triggers.ts';
import { keepGood, REREAD_MS } from '../preparation/prepared-objects.ts';
import { type PlannedObject, planError, plannedMetrics } from '../preparation/prepared-triggers.ts';
import { containerEnvironments } from '../triggers/authentication/container-environment.ts';
import { readerOfOne, UnreadReference } from '../triggers/authentication/reference-reader.ts';
import { brokenByTriggers } from '../validation/validate-scaled-object.ts';
import type { JobClient } from './job-client.ts';
import { type JobMemory, noteClocks, type ScaledJobDependencies } from './job-context.ts';
import { GENERATION_ANNOTATION } from './job-state.ts';

const VALID_INTERVALS = 3;
const TOO_MANY = 429;

type PlanOptions = ScaledJobDependencies & { readonly own: ObjectEvents; readonly signal: AbortSignal };

/** What is asked for an object; worked out again when it, or what it refers to, changes, and its old Jobs go then. */
export async function plannedFor(
  object: ScaledJob,
  memory: JobMemory,
  options: PlanOptions,
): Promise<PlannedObject> {
  const { clock, types, share, jobs, own, signal, authenticationsOf } = options;
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
  const environment = containerEnvironments({
    readWorkload: async () => ({ spec: spec.jobTargetRef }),
    container: spec.envSourceContainerName,
    reader: reader.environmentOf(namespace, signal),
  });
  const planned = await planTriggers(spec.triggers, {
    ...{ objectKind: 'ScaledJob', objectName: metadata.name, namespace, hasFormula: false },
    ...{ types, reader, share, environment, signal },
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
    onPolled: memory.onPolled,
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

/** A check that a ScaledJob does not pass. */
export class JobCheckFailure extends Error {
  override readonly name = 'JobCheckFailure';

  /** The step, and what was wrong at it: the condition says the step alone. */
  get full(): string {
    return this.cause === undefined ? this.message : `${this.message}: ${describeError(this.cause)}`;
  }
}

/** Checks what a schema cannot. @throws {JobCheckFailure} for the first rule that is broken */
export function checkScaledJob({ spec, omitted }: ScaledJob): void {
  if (omitted !== undefined) throw new JobCheckFailure(`ScaledJob cannot be read: ${omitted}`);
  if (!spec.jobTargetRef) throw new JobCheckFailure('ScaledJob.spec.jobTargetRef not found');
  const step = "ScaledJob doesn't have correct triggers specification";
  const broken = brokenByTriggers(spec.triggers);
  if (broken) throw new JobCheckFailure(step, { cause: new Error(broken) });
  if (spec.triggers.some(({ metricType }) => metricType !== undefined))
    throw new JobCheckFailure('Cannot set metricType in ScaledJob triggers');
}

/** What rolling out takes. */
interface RollOutOptions {
  readonly jobs: JobClient;
  readonly own: ObjectEvents;
  readonly signal: AbortSignal;
}

/** Deletes the Jobs of earlier generations, unless they are to end by themselves. */
export async function rollOut(object: ScaledJob, { jobs, own, signal }: RollOutOptions): Promise<void> {
  const { rolloutStrategy, rollout } = object.spec;
  if ((rolloutStrategy || rollout?.strategy) === 'gradual') return;
  const generation = `${object.metadata.generation}`;
  const all = await jobs.list(object, signal);
  const old = all.filter(({ metadata }) => metadata.annotations?.[GENERATION_ANNOTATION] !== generation);
  if (old.length === 0) return;
  const which = `${old.length} jobs owned by the previous version of the scaledJob`;
  own.normal('ScaledJobRolloutCleanupStarted', `Deleting ${which}`);
  for (const job of old) {
    try {
      await jobs.delete(
        job,
        rollout?.propagationPolicy === 'foreground' ? 'Foreground' : 'Background',
        signal,
      );
    } catch (error) {
      own.warning(
        'ScaledJobRolloutCleanupFailed',
        `Failed to delete job ${job.metadata.name}: ${describeError(error)}`,
      );
      throw error;
    }
  }
  own.normal('ScaledJobRolloutCleanupCompleted', `Deleted ${which}`);
}
