import type { ScaleTarget } from '#lib/control/scale-client.ts';
import type { Decoded } from '#lib/kubernetes/objects/find-wrong-field.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { ObjectCondition } from './conditions.ts';
import type { SCALED_OBJECT_SCHEMA } from './object-schemas.ts';

type Spec = Decoded<typeof SCALED_OBJECT_SCHEMA.spec>;

export type TriggerSpec = Spec['triggers'][number];

/** Replicas while a source fails more often in a row than `failureThreshold`. */
export type Fallback = NonNullable<Spec['fallback']>;

/** `keda.sh/v1alpha1` ScaledObject. */
export interface ScaledObject extends KubernetesObject {
  /** Why the spec is not cached and the object cannot be used; absent if it is cached. */
  readonly omitted?: string;
  readonly spec: Spec;
  readonly status?: ScaledObjectStatus;
}

/** Failures of an external metric in a row, counted only if there is a fallback. */
export interface MetricHealth {
  readonly numberOfFailures: number;
  readonly status: 'Happy' | 'Failing';
}

export interface ScaledObjectStatus {
  readonly scaleTargetKind?: string;
  readonly scaleTargetGVKR?: {
    /** Absent for the core group. */
    readonly group?: string;
    readonly version: string;
    readonly kind: string;
    readonly resource: string;
  };
  readonly originalReplicaCount?: number;
  readonly lastActiveTime?: string;
  readonly externalMetricNames?: readonly string[];
  readonly resourceMetricNames?: readonly string[];
  readonly compositeScalerName?: string;
  readonly conditions?: readonly ObjectCondition[];
  readonly health?: Readonly<Record<string, MetricHealth>>;
  readonly triggersActivity?: Readonly<Record<string, { readonly isActive: boolean }>>;
  readonly pausedReplicaCount?: number;
  readonly hpaName?: string;
  readonly triggersTypes?: string;
  readonly authenticationsTypes?: string;
}

/** Default `pollingInterval` of ScaledObjects and ScaledJobs. */
export const DEFAULT_POLLING_S = 30;

/** The scale target; by default a Deployment of apps/v1. */
export function targetOf({ metadata, spec }: ScaledObject): ScaleTarget {
  const { name, apiVersion, kind } = spec.scaleTargetRef;
  return {
    namespace: metadata.namespace ?? '',
    apiVersion: apiVersion || 'apps/v1',
    kind: kind || 'Deployment',
    name,
  };
}

/** Name of the HPA; by default `keda-hpa-NAME`. */
export function hpaNameOf({ metadata, spec }: ScaledObject): string {
  return spec.advanced?.horizontalPodAutoscalerConfig?.name || `keda-hpa-${metadata.name}`;
}

/** Key of the HPA: `NAMESPACE/NAME`. */
export function hpaKeyOf(object: ScaledObject): string {
  return `${object.metadata.namespace}/${hpaNameOf(object)}`;
}
