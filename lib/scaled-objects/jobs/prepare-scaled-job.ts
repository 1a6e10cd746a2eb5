import type { Collection, Collector } from '#lib/collection/collection.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import type { ObjectEvents } from '../api/object-events.ts';
import type { ScaledJob } from '../api/scaled-job.ts';
import type { PushScalerStreams } from '../metrics/push-scalers.ts';
import { recordStarted } from '../metrics/scaler-events.ts';
import type { PreparedScaledJob } from '../preparation/prepared-scaled-job.ts';
import {
  type PreparedTriggers,
  preparationError,
  preparedMetrics,
} from '../preparation/prepared-triggers.ts';
import { UnreadReference } from '../triggers/authentication/reference-reader.ts';
import { brokenByTriggers } from '../validation/validate-scaled-object.ts';
import type { JobClient } from './job-client.ts';
import { recordClockOffset, type ScaledJobDependencies, type ScaledJobState } from './job-context.ts';
import { GENERATION_ANNOTATION } from './job-state.ts';

const VALID_INTERVALS = 3;
const TOO_MANY = 429;

type PrepareOptions = ScaledJobDependencies & { readonly own: ObjectEvents; readonly signal: AbortSignal };

/**
 * Prepares the triggers of an object. Of each version of it, a Job is tried first, and those of earlier generations are
 * deleted.
 *
 * @throws {JobCheckFailure} where it cannot be used as it is; an {@link UnreadReference} where that is not known now
 */
export async function prepareScaledJob(
  object: ScaledJob,
  jobState: ScaledJobState,
  options: PrepareOptions,
): Promise<PreparedTriggers> {
  const { clock, prepared: objects, jobs, own, signal } = options;
  const { uid, generation } = object.metadata;
  const plan = await objects.prepareTriggers(object, signal);
  const error = preparationError(plan);
  if (error) throw error instanceof UnreadReference ? error : cannotCreate(error);
  if (jobState.started?.uid === uid && jobState.started?.generation === generation) return plan;
  const createdAtMs = await jobs.create(object, { signal, dryRun: true }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw jobRefusal(cause);
  });
  recordClockOffset(jobState, createdAtMs, clock);
  await rollOut(object, { ...options, prepared: objects.get(object) });
  recordStarted(plan.triggers, own);
  jobState.started = { uid, generation };
  return plan;
}

/** What it means that a Job was refused: that it cannot be so; what is no reason of the object's stays as it is. */
export function jobRefusal(error: unknown): unknown {
  const isReason = error instanceof ApiError && error.statusCode < 500 && error.statusCode !== TOO_MANY;
  return isReason ? cannotCreate(error) : error;
}

function cannotCreate(cause: unknown): JobCheckFailure {
  return new JobCheckFailure('Failed to ensure ScaledJob is correctly created', { cause });
}

/** Polls the triggers of an object. */
export function collect(
  key: string,
  { namespace, pollingMs: intervalMs }: PreparedScaledJob,
  {
    plan,
    collection,
    pushes,
    jobState,
  }: { plan: PreparedTriggers; collection: Collection; pushes: PushScalerStreams; jobState: ScaledJobState },
): void {
  const polling = {
    intervalMs,
    validForMs: VALID_INTERVALS * intervalMs,
    isSteady: true,
    onPolled: jobState.onPolled,
    tenant: namespace,
  };
  const collectors = preparedMetrics(plan).map(({ metricName, query }): [string, Collector] => [
    metricName,
    { query, ...polling },
  ]);
  collection.replace(key, new Map(collectors));
  // All are polled: Jobs are created when all have responded, and a push need not wait for the interval of the others.
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
  readonly prepared: PreparedScaledJob;
  readonly jobs: JobClient;
  readonly own: ObjectEvents;
  readonly signal: AbortSignal;
}

/** Deletes the Jobs of earlier generations, unless they are to end by themselves. */
export async function rollOut(
  object: ScaledJob,
  { prepared, jobs, own, signal }: RollOutOptions,
): Promise<void> {
  if (prepared.isRolloutGradual) return;
  const generation = `${object.metadata.generation}`;
  const all = await jobs.list(object, signal);
  const old = all.filter(({ metadata }) => metadata.annotations?.[GENERATION_ANNOTATION] !== generation);
  if (old.length === 0) return;
  const which = `${old.length} jobs owned by the previous version of the scaledJob`;
  own.normal('ScaledJobRolloutCleanupStarted', `Deleting ${which}`);
  for (const job of old) {
    try {
      await jobs.delete(job, prepared.propagationPolicy, signal);
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
