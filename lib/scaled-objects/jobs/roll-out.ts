import { describeError } from '#lib/telemetry/logger.ts';
import type { ObjectEvents } from '../objects/object-events.ts';
import type { ScaledJob } from '../objects/scaled-job.ts';
import type { JobClient } from './job-client.ts';
import { GENERATION_ANNOTATION } from './new-job.ts';

/** What rolling out takes. */
export interface RollOutOptions {
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
