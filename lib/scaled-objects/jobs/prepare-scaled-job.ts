import type { Collection, Collector } from '#lib/collection/collection.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import type { ObjectEvents } from '../api/object-events.ts';
import type { ScaledJob } from '../api/scaled-job.ts';
import type { PushScalerStreams } from '../metrics/pushed-triggers.ts';
import { recordStarted } from '../metrics/scaler-events.ts';
import type { PreparedScaledJob } from '../preparation/prepared-scaled-job.ts';
import {
  type PreparedTriggers,
  preparationError,
  preparedMetrics,
} from '../preparation/prepared-triggers.ts';
import { UnreadReference } from '../triggers/authentication/reference-reader.ts';
import { brokenByTriggers } from '../validation/validate-scaled-object.ts';
import { recordClockOffset, type ScaledJobDependencies, type ScaledJobState } from './job-context.ts';
import { rollOut } from './roll-out.ts';

const TOO_MANY = 429;

type PrepareOptions = ScaledJobDependencies & { readonly own: ObjectEvents; readonly signal: AbortSignal };

/**
 * Prepares the triggers of an object. For each new generation, first validates a Job by a dry run and deletes the Jobs of
 * earlier generations.
 *
 * @throws {JobCheckFailure} if the object cannot be used; {@link UnreadReference} if a reference cannot be read at the moment
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

/** Converts a rejection of the Job itself into a {@link JobCheckFailure}; other errors (5xx, 429, network) are returned unchanged. */
export function jobRefusal(error: unknown): unknown {
  const isReason = error instanceof ApiError && error.statusCode < 500 && error.statusCode !== TOO_MANY;
  return isReason ? cannotCreate(error) : error;
}

function cannotCreate(cause: unknown): JobCheckFailure {
  return new JobCheckFailure('Failed to ensure ScaledJob is correctly created', { cause });
}

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
    isSteady: true,
    onPolled: jobState.onPolled,
    tenant: namespace,
  };
  const collectors = preparedMetrics(plan).map(({ metricName, query }): [string, Collector] => [
    metricName,
    { query, ...polling },
  ]);
  collection.replace(key, new Map(collectors));
  // A push polls all triggers, because Jobs are created once all have responded.
  pushes.replace(key, plan.triggers, { pollsAll: true });
}

/** A ScaledJob fails a check. */
export class JobCheckFailure extends Error {
  override readonly name = 'JobCheckFailure';

  /** The step and its cause, for events; as in KEDA, the condition has only the step. */
  get full(): string {
    return this.cause === undefined ? this.message : `${this.message}: ${describeError(this.cause)}`;
  }
}

/** Checks rules that the schema cannot express. @throws {JobCheckFailure} for the first violation */
export function checkScaledJob({ spec, omitted }: ScaledJob): void {
  if (omitted !== undefined) throw new JobCheckFailure(`Cannot read ScaledJob: ${omitted}`);
  if (!spec.jobTargetRef) throw new JobCheckFailure('ScaledJob.spec.jobTargetRef not found');
  const step = "ScaledJob doesn't have correct triggers specification";
  const broken = brokenByTriggers(spec.triggers);
  if (broken) throw new JobCheckFailure(step, { cause: new Error(broken) });
  if (spec.triggers.some(({ metricType }) => metricType !== undefined))
    throw new JobCheckFailure('Cannot set metricType in ScaledJob triggers');
}
