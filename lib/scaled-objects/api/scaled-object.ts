import type { ScaleTarget } from '#lib/control/scale-client.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { ObjectCondition } from './conditions.ts';

/** How a value is set against its target. */
export type MetricType = 'AverageValue' | 'Value' | 'Utilization';

/** One trigger: what is asked, and what it takes to scale. */
export interface TriggerSpec {
  readonly type: string;
  readonly name?: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly useCachedMetrics?: boolean;
  readonly metricType?: MetricType;
  readonly authenticationRef?: { readonly name: string; readonly kind?: string };
}

/** What counts while a source fails. */
export interface Fallback {
  readonly failureThreshold: number;
  readonly replicas: number;
  readonly behavior?: string;
}

/** What a formula makes of the values of triggers. */
interface ScalingModifiers {
  readonly formula?: string;
  readonly target?: string;
  readonly activationTarget?: string;
  readonly metricType?: MetricType;
}

/** Rules of one direction, as in autoscaling/v2. */
type ScalingRules = Readonly<Record<string, unknown>>;

/** `keda.sh/v1alpha1` ScaledObject, as its schema lets it be. */
export interface ScaledObject extends KubernetesObject {
  /** Why its spec is not cached, so that the object cannot be used; absent where it is. */
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

/** How an external metric fares, where there is a fallback. */
export interface MetricHealth {
  readonly numberOfFailures: number;
  readonly status: 'Happy' | 'Failing';
}

export interface ScaledObjectStatus {
  readonly scaleTargetKind?: string;
  readonly scaleTargetGVKR?: {
    /** Left out of the core group. */
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

/** How often triggers are polled where the spec of their object does not say it, in seconds; that of a ScaledJob, too. */
export const DEFAULT_POLLING_S = 30;

/** What an object scales; what it leaves out is a Deployment. */
export function targetOf({ metadata, spec }: ScaledObject): ScaleTarget {
  const { name, apiVersion, kind } = spec.scaleTargetRef;
  return {
    namespace: metadata.namespace ?? '',
    apiVersion: apiVersion || 'apps/v1',
    kind: kind || 'Deployment',
    name,
  };
}

/** Name of the HPA that an object has. */
export function hpaNameOf({ metadata, spec }: ScaledObject): string {
  return spec.advanced?.horizontalPodAutoscalerConfig?.name || `keda-hpa-${metadata.name}`;
}

/** The key of the HPA that an object has: `NAMESPACE/NAME`. */
export function hpaKeyOf(object: ScaledObject): string {
  return `${object.metadata.namespace}/${hpaNameOf(object)}`;
}
