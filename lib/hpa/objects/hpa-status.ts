import type { MetricIdentifier, ObjectReference } from './references.ts';

/** The status of an `autoscaling/v2` HorizontalPodAutoscaler, in Kubernetes' own JSON. */
export interface HpaStatus {
  readonly currentReplicas?: number;
  readonly desiredReplicas: number;
  readonly lastScaleTime?: string;
  readonly currentMetrics?: readonly MetricStatus[] | null;
  readonly conditions?: readonly HpaCondition[];
}

export interface HpaCondition {
  readonly type: string;
  readonly status: string;
  /** RFC 3339, whole seconds. */
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** The current value of one metric; a metric that failed leaves `FAILED_METRIC_STATUS` in its place. */
export interface MetricStatus {
  readonly type: string;
  readonly resource?: { readonly name: string; readonly current: MetricValueStatus };
  readonly containerResource?: {
    readonly name: string;
    readonly container: string;
    readonly current: MetricValueStatus;
  };
  readonly pods?: { readonly metric: MetricIdentifier; readonly current: MetricValueStatus };
  readonly object?: {
    readonly metric: MetricIdentifier;
    readonly current: MetricValueStatus;
    readonly describedObject: ObjectReference;
  };
  readonly external?: { readonly metric: MetricIdentifier; readonly current: MetricValueStatus };
}

export interface MetricValueStatus {
  readonly value?: string;
  readonly averageValue?: string;
  readonly averageUtilization?: number;
}

/** What Kubernetes' controller writes for a metric that it could not read. */
export const FAILED_METRIC_STATUS: MetricStatus = { type: '' };
