import type { HpaStatus } from './hpa-status.ts';
import type { MetricIdentifier, ObjectReference } from './references.ts';

/** An `autoscaling/v2` HorizontalPodAutoscaler as far as deciding needs it, in Kubernetes' own JSON. */
export interface HorizontalPodAutoscaler {
  readonly metadata: { readonly name: string; readonly namespace: string };
  /** With its defaults filled in (`defaultedSpec`), as the API serves it. */
  readonly spec: HpaSpec;
  /** Absent where none was ever written. */
  readonly status?: HpaStatus;
}

/** What errors call the target: `Deployment/default/web`. */
export function targetOf({ metadata, spec }: HorizontalPodAutoscaler): string {
  return `${spec.scaleTargetRef.kind}/${metadata.namespace}/${spec.scaleTargetRef.name}`;
}

export interface HpaSpec {
  readonly scaleTargetRef: ObjectReference;
  readonly minReplicas?: number;
  readonly maxReplicas: number;
  readonly metrics?: readonly MetricSpec[];
  readonly behavior?: HpaBehavior;
}

/** One metric that an HPA follows; the field that `type` names is the one that is set. */
export type MetricSpec =
  | { readonly type: 'Resource'; readonly resource: ResourceMetricSpec }
  | { readonly type: 'ContainerResource'; readonly containerResource: ContainerResourceMetricSpec }
  | { readonly type: 'Pods'; readonly pods: NamedMetricSpec }
  | { readonly type: 'Object'; readonly object: ObjectMetricSpec }
  | { readonly type: 'External'; readonly external: NamedMetricSpec };

export interface ResourceMetricSpec {
  /** `cpu`, `memory` … */
  readonly name: string;
  readonly target: MetricTarget;
}

export interface ContainerResourceMetricSpec extends ResourceMetricSpec {
  readonly container: string;
}

export interface NamedMetricSpec {
  readonly metric: MetricIdentifier;
  readonly target: MetricTarget;
}

export interface ObjectMetricSpec extends NamedMetricSpec {
  readonly describedObject: ObjectReference;
}

/** What a metric is to be; quantities are Kubernetes' texts, utilization is percent of the request. */
export interface MetricTarget {
  readonly type: string;
  readonly value?: string;
  readonly averageValue?: string;
  readonly averageUtilization?: number;
}

export interface HpaBehavior {
  readonly scaleUp?: ScalingRules;
  readonly scaleDown?: ScalingRules;
}

export interface ScalingRules {
  readonly stabilizationWindowSeconds?: number;
  readonly selectPolicy?: string;
  readonly policies?: readonly ScalingPolicy[];
  /** A quantity: a part of the target, `50m` is 5 %. */
  readonly tolerance?: string;
}

export interface ScalingPolicy {
  /** `Pods` or `Percent`, which says what `value` counts. */
  readonly type: string;
  readonly value: number;
  readonly periodSeconds: number;
}
