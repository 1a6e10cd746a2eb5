import { describeError } from '#lib/telemetry/error-text.ts';
import type { ObjectEvents } from '../api/object-events.ts';
import type { ScaledJob } from '../api/scaled-job.ts';
import type { PreparedScaledJob } from '../preparation/prepared-scaled-job.ts';
import type { JobClient } from './job-client.ts';
import { GENERATION_ANNOTATION } from './job-state.ts';

interface RollOutOptions {
  readonly prepared: PreparedScaledJob;
  readonly jobs: JobClient;
  readonly own: ObjectEvents;
  readonly signal: AbortSignal;
}

/** Deletes the Jobs of earlier generations, unless the rollout strategy is `gradual`. */
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
