import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { ObjectCondition } from './conditions.ts';
import type { TriggerSpec } from './scaled-object.ts';

/** How the values of triggers determine the number of Jobs. */
export interface ScalingStrategy {
  readonly strategy?: string;
  readonly customScalingQueueLengthDeduction?: number;
  readonly customScalingRunningJobPercentage?: string;
  readonly pendingPodConditions?: readonly string[];
  readonly multipleScalersCalculation?: string;
}

/** `keda.sh/v1alpha1` ScaledJob. */
export interface ScaledJob extends KubernetesObject {
  /** Why the spec is not cached and the object cannot be used; absent if it is cached. */
  readonly omitted?: string;
  readonly spec: {
    /** A batch/v1 JobSpec. */
    readonly jobTargetRef: {
      readonly template?: { readonly metadata?: Metadata; readonly spec?: Readonly<Record<string, unknown>> };
      readonly [field: string]: unknown;
    };
    readonly pollingInterval?: number;
    readonly successfulJobsHistoryLimit?: number;
    readonly failedJobsHistoryLimit?: number;
    readonly rolloutStrategy?: string;
    readonly rollout?: { readonly strategy?: string; readonly propagationPolicy?: string };
    readonly envSourceContainerName?: string;
    readonly minReplicaCount?: number;
    readonly maxReplicaCount?: number;
    readonly scalingStrategy?: ScalingStrategy;
    readonly triggers: readonly TriggerSpec[];
  };
  readonly status?: ScaledJobStatus;
}

interface Metadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

export interface ScaledJobStatus {
  readonly lastActiveTime?: string;
  readonly conditions?: readonly ObjectCondition[];
  readonly Paused?: string;
  readonly triggersTypes?: string;
  readonly authenticationsTypes?: string;
  readonly externalMetricNames?: readonly string[];
  readonly triggersActivity?: Readonly<Record<string, { readonly isActive: boolean }>>;
}
