import type {
  V2ContainerResourceMetricSource,
  V2HorizontalPodAutoscalerBehavior,
  V2HorizontalPodAutoscalerCondition,
  V2HorizontalPodAutoscalerSpec,
  V2HorizontalPodAutoscalerStatus,
  V2HPAScalingPolicy,
  V2HPAScalingRules,
  V2MetricIdentifier,
  V2MetricStatus,
  V2MetricTarget,
  V2MetricValueStatus,
  V2ObjectMetricSource,
  V2PodsMetricSource,
  V2ResourceMetricSource,
} from '@kubernetes/client-node';
import { getOwn } from '../get-own.ts';
import { parseNanos } from '../quantity.ts';
import type { Wire } from '../wire.ts';

/** The fields of an `autoscaling/v2` HorizontalPodAutoscaler that decisions need, in Kubernetes' own JSON. */
export interface HorizontalPodAutoscaler {
  readonly metadata: { readonly name: string; readonly namespace: string };
  /** With its defaults (`defaultedSpec`), as the API serves it. */
  readonly spec: HpaSpec;
  /** Absent if it was never written. */
  readonly status?: HpaStatus;
  /** Why metrics and behavior are left out of the spec, so that it cannot be decided; absent if they are not. */
  readonly omitted?: string;
}

/** The target in messages: `Deployment/default/web`. */
export function targetOf({ metadata, spec }: HorizontalPodAutoscaler): string {
  return `${spec.scaleTargetRef.kind}/${metadata.namespace}/${spec.scaleTargetRef.name}`;
}

export type HpaSpec = Omit<Wire<V2HorizontalPodAutoscalerSpec>, 'metrics'> & {
  readonly metrics?: readonly MetricSpec[];
};

/** One metric of an HPA; the field that `type` names is set. */
export type MetricSpec =
  | { readonly type: 'Resource'; readonly resource: ResourceMetricSpec }
  | { readonly type: 'ContainerResource'; readonly containerResource: ContainerResourceMetricSpec }
  | { readonly type: 'Pods'; readonly pods: NamedMetricSpec }
  | { readonly type: 'Object'; readonly object: ObjectMetricSpec }
  | { readonly type: 'External'; readonly external: NamedMetricSpec };

/** Named `cpu`, `memory` … */
export type ResourceMetricSpec = Wire<V2ResourceMetricSource>;
export type ContainerResourceMetricSpec = Wire<V2ContainerResourceMetricSource>;

/** Of Pods and External metrics. */
export type NamedMetricSpec = Wire<V2PodsMetricSource>;
export type ObjectMetricSpec = Wire<V2ObjectMetricSource>;

/** The target of a metric; quantities are strings, utilization is per cent of the request. */
export type MetricTarget = Wire<V2MetricTarget>;
export type HpaBehavior = Wire<V2HorizontalPodAutoscalerBehavior>;
/** Its tolerance is a quantity relative to the target: `50m` is 5 %. */
export type ScalingRules = Wire<V2HPAScalingRules>;
/** Its type is `Pods` or `Percent`, the unit of its value. */
export type ScalingPolicy = Wire<V2HPAScalingPolicy>;

/** The status of an `autoscaling/v2` HorizontalPodAutoscaler, in Kubernetes' own JSON. */
export type HpaStatus = Omit<Wire<V2HorizontalPodAutoscalerStatus>, 'currentMetrics'> & {
  readonly currentMetrics?: readonly MetricStatus[] | null;
};

/** Its time is RFC 3339, whole seconds. */
export type HpaCondition = Wire<V2HorizontalPodAutoscalerCondition>;
/** The current value of one metric; `FAILED_METRIC_STATUS` for a metric that failed. */
export type MetricStatus = Wire<V2MetricStatus>;
export type MetricValueStatus = Wire<V2MetricValueStatus>;

/** Written by Kubernetes' controller for a metric that it could not read. */
export const FAILED_METRIC_STATUS: MetricStatus = { type: '' };

export type MetricIdentifier = Wire<V2MetricIdentifier>;

/**
 * Sets the defaults that the API server sets for an HPA of `autoscaling/v2`.
 *
 * The scale-down window remains unset: it is a flag of the controller.
 */
export function defaultedSpec(submitted: Readonly<HpaSpec>): HpaSpec {
  const { minReplicas = 1, metrics = [], behavior, ...others } = submitted;
  return {
    ...others,
    minReplicas,
    metrics: metrics.length > 0 ? metrics : [DEFAULT_METRIC],
    ...(behavior ? { behavior: defaultedBehavior(behavior) } : {}),
  };
}

/** An HPA without any behavior gets no defaults: other rules apply to it. */
function defaultedBehavior({ scaleUp, scaleDown }: HpaBehavior): HpaBehavior {
  return { scaleUp: { ...SCALE_UP, ...given(scaleUp) }, scaleDown: { ...SCALE_DOWN, ...given(scaleDown) } };
}

/** Rules without null fields, which count as absent. */
function given(rules: ScalingRules | undefined): ScalingRules {
  return Object.fromEntries(
    Object.entries(rules ?? {}).filter(([, value]) => value !== null && value !== undefined),
  );
}

const DEFAULT_METRIC: MetricSpec = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
};

const SCALE_UP: ScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
};

const SCALE_DOWN: ScalingRules = {
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
};

/**
 * Whether two statuses are equivalent, so that nothing needs to be written.
 *
 * An empty list equals an absent one, and quantities are compared by value.
 */
export function isSameStatus(one: HpaStatus | undefined, other: HpaStatus): boolean {
  return isSame(one ?? UNWRITTEN, other);
}

/** The status in the API of an HPA that no controller has reconciled. */
const UNWRITTEN: HpaStatus = { currentReplicas: 0, desiredReplicas: 0 };

/** @param name of the field, and `parent` of the field that contains it */
function isSame(one: unknown, other: unknown, name = '', parent = ''): boolean {
  if (one === other || (isEmpty(one) && isEmpty(other))) return true;
  if (typeof one === 'string' && typeof other === 'string') return isSameText(one, other, name, parent);
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
    return COUNTS.has(name) && (one ?? 0) === (other ?? 0);
  }
  const [first, second] = [one as Record<string, unknown>, other as Record<string, unknown>];
  for (const key in first) if (!isSame(getOwn(first, key), getOwn(second, key), key, name)) return false;
  for (const key in second)
    if (!Object.hasOwn(first, key) && !isSame(undefined, getOwn(second, key), key, name)) return false;
  return true;
}

/** Numbers that Go's JSON leaves out when they are zero. */
const COUNTS: ReadonlySet<string> = new Set(['currentReplicas', 'desiredReplicas']);

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (typeof value !== 'object') return false;
  for (const _ in value) return false;
  return true;
}

function isSameText(one: string, other: string, name: string, parent: string): boolean {
  if (name === 'lastScaleTime' || name === 'lastTransitionTime') return Date.parse(one) === Date.parse(other);
  if (parent !== 'current') return false;
  try {
    return parseNanos(one) === parseNanos(other);
  } catch {
    return false; // written by a client that does not write quantities
  }
}

/** The name of a metric in a simulated load. */
export function nameOf(spec: MetricSpec): string {
  if (spec.type === 'Resource') return spec.resource.name;
  if (spec.type === 'ContainerResource') return spec.containerResource.name;
  if (spec.type === 'Pods') return spec.pods.metric.name;
  return spec.type === 'Object' ? spec.object.metric.name : spec.external.metric.name;
}

export function minReplicasOf({ spec }: HorizontalPodAutoscaler): number {
  return spec.minReplicas ?? 1;
}

/** Maximum of the API's int32. */
export const MAX_REPLICAS = 2 ** 31 - 1;
