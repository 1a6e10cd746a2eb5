import { readKedaAnnotations } from '../api/annotations.ts';
import type { ScaledJob, ScalingStrategy } from '../api/scaled-job.ts';
import { DEFAULT_POLLING_S } from '../api/scaled-object.ts';
import { describeTriggers, type PreparedObject, type TriggerStatusFields } from './prepared-scaled-object.ts';

const DEFAULT_MAX_JOBS = 100;
const DEFAULT_HISTORY_LIMIT = 100;

/** Concurrent Jobs: `min` always, and `max` in addition to them. */
interface JobBounds {
  readonly min: number;
  readonly max: number;
}

/** Compiled spec and annotations of a ScaledJob. */
export interface PreparedScaledJob extends PreparedObject {
  readonly pollingMs: number;
  readonly bounds: JobBounds;
  readonly strategy: ScalingStrategy;
  /** Retained ended Jobs, by outcome. */
  readonly historyLimits: { readonly successful: number; readonly failed: number };
  /** Whether Jobs of earlier generations are left to finish. */
  readonly isRolloutGradual: boolean;
  /** Policy for deleting Jobs of earlier generations. */
  readonly propagationPolicy: 'Foreground' | 'Background';
  readonly statusFields: TriggerStatusFields;
}

/** Compiles a ScaledJob that matches its schema. Pure; never throws. */
export function compileScaledJob(object: ScaledJob): PreparedScaledJob {
  const { metadata, spec } = object;
  const { uid, generation, namespace = '', name } = metadata;
  const { rolloutStrategy, rollout, successfulJobsHistoryLimit, failedJobsHistoryLimit } = spec;
  return {
    ...{ uid, generation, namespace, name },
    annotations: readKedaAnnotations(object),
    hasFormula: false,
    envSourceContainer: spec.envSourceContainerName,
    pollingMs: (spec.pollingInterval ?? DEFAULT_POLLING_S) * 1000,
    bounds: jobBounds(object),
    strategy: spec.scalingStrategy ?? {},
    historyLimits: {
      successful: successfulJobsHistoryLimit ?? DEFAULT_HISTORY_LIMIT,
      failed: failedJobsHistoryLimit ?? DEFAULT_HISTORY_LIMIT,
    },
    isRolloutGradual: (rolloutStrategy || rollout?.strategy) === 'gradual',
    propagationPolicy: rollout?.propagationPolicy === 'foreground' ? 'Foreground' : 'Background',
    statusFields: describeTriggers(spec.triggers),
  };
}

function jobBounds({ spec }: ScaledJob): JobBounds {
  const { minReplicaCount = 0, maxReplicaCount } = spec;
  const min = Math.min(minReplicaCount, maxReplicaCount ?? minReplicaCount);
  if (maxReplicaCount === undefined) return { min, max: DEFAULT_MAX_JOBS };
  return { min, max: minReplicaCount > maxReplicaCount ? maxReplicaCount : maxReplicaCount - min };
}
