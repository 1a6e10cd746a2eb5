import type { Decoded } from '#lib/kubernetes/objects/find-wrong-field.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { ObjectCondition } from './conditions.ts';
import type { SCALED_JOB_SCHEMA } from './object-schemas.ts';

type Spec = Decoded<typeof SCALED_JOB_SCHEMA.spec>;

/** How the values of triggers determine the number of Jobs. */
export type ScalingStrategy = NonNullable<Spec['scalingStrategy']>;

/** `keda.sh/v1alpha1` ScaledJob. */
export interface ScaledJob extends KubernetesObject {
  /** Why the spec is not cached and the object cannot be used; absent if it is cached. */
  readonly omitted?: string;
  readonly spec: Spec;
  readonly status?: ScaledJobStatus;
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
