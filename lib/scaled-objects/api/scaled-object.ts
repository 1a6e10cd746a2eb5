import type { ScaleTarget } from '#lib/control/scale-client.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { ObjectCondition } from './conditions.ts';

/** Target type of a metric, as in autoscaling/v2. */
export type MetricType = 'AverageValue' | 'Value' | 'Utilization';

export interface TriggerSpec {
  readonly type: string;
  readonly name?: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly useCachedMetrics?: boolean;
  readonly metricType?: MetricType;
  readonly authenticationRef?: { readonly name: string; readonly kind?: string };
}

/** Replicas while a source fails more often in a row than `failureThreshold`. */
export interface Fallback {
  readonly failureThreshold: number;
  readonly replicas: number;
  readonly behavior?: string;
}

/** Replaces all external metrics by the result of a formula. */
interface ScalingModifiers {
  readonly formula?: string;
  readonly target?: string;
  readonly activationTarget?: string;
  readonly metricType?: MetricType;
}

/** `HPAScalingRules` of autoscaling/v2. */
type ScalingRules = Readonly<Record<string, unknown>>;

/** `keda.sh/v1alpha1` ScaledObject. */
export interface ScaledObject extends KubernetesObject {
  /** Why the spec is not cached and the object cannot be used; absent if it is cached. */
  readonly omitted?: string;
  readonly spec: {
    readonly scaleTargetRef: {
      readonly name: string;
      readonly apiVersion?: string;
      readonly kind?: string;
      readonly envSourceContainerName?: string;
    };
    readonly pollingInterval?: number;
    readonly initialCooldownPeriod?: number;
    readonly cooldownPeriod?: number;
    readonly idleReplicaCount?: number;
    readonly minReplicaCount?: number;
    readonly maxReplicaCount?: number;
    readonly advanced?: {
      readonly restoreToOriginalReplicaCount?: boolean;
      readonly horizontalPodAutoscalerConfig?: {
        readonly name?: string;
        readonly behavior?: { readonly scaleUp?: ScalingRules; readonly scaleDown?: ScalingRules };
      };
      readonly scalingModifiers?: ScalingModifiers;
    };
    readonly triggers: readonly TriggerSpec[];
    readonly fallback?: Fallback;
  };
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
