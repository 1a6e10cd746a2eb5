import type { EventText } from '#lib/control/event-recorder.ts';
import type { HpaStatus, MetricStatus } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { Limit, Stabilization } from './behavior.ts';
import type { MetricExplanation } from './evaluate-metrics.ts';
import type { ConditionChange, ConditionRemoval } from './hpa-conditions.ts';
import type { ScalingState } from './scaling-state.ts';

/** A decision before the scale is written; `conclude` returns its outcome. */
export interface Decision {
  /** Replicas to write to the scale; `undefined` leaves it unchanged. */
  readonly scaleTo: number | undefined;
  /** The reason in the event. */
  readonly scaleReason: string;
  readonly conditions: readonly (ConditionChange | ConditionRemoval)[];
  /** Change of the condition ScaledToZero after the scale is written. */
  readonly scaledToZero?: ConditionChange | ConditionRemoval;
  readonly events: readonly EventText[];
  /** Error of the reconciliation; may be present even if it scales. */
  readonly error: string | undefined;
  /** Status fields except conditions; `undefined` leaves them unchanged. */
  readonly status: DecidedStatus | undefined;
  readonly memory: ScalingState;
  readonly explanation: Explanation;
}

interface DecidedStatus {
  readonly currentReplicas: number;
  /** `undefined` leaves the value of the status unchanged. */
  readonly desiredReplicas: number | undefined;
  /** `null` when metrics were not evaluated. */
  readonly currentMetrics: readonly MetricStatus[] | null;
}

/** The result of a decision after the scale was written, or could not be. */
export interface Outcome {
  /** Replicas written to the scale. */
  readonly desiredReplicas: number | undefined;
  readonly status: HpaStatus;
  /** Whether the status changed and has to be written. */
  readonly isStatusChanged: boolean;
  readonly events: readonly EventText[];
  readonly error: string | undefined;
  readonly memory: ScalingState;
  readonly explanation: Explanation;
}

/** The whole calculation of a decision, as data. */
export interface Explanation {
  readonly atMs: number;
  readonly step: DecisionStep;
  /** `undefined` when the scale cannot be read. */
  readonly currentReplicas: number | undefined;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  /** In the order of the spec; empty when metrics were not evaluated. */
  readonly metrics: readonly MetricExplanation[];
  /** Index in `metrics` of the metric with the highest proposal. */
  readonly leadingMetric?: number;
  /** The highest proposal. */
  readonly proposedReplicas?: number;
  readonly stabilization?: Omit<Stabilization, 'recommendations'>;
  readonly limit?: Limit;
  /** Replicas that the target should have. */
  readonly desiredReplicas: number | undefined;
  /** Why there is no decision. */
  readonly problem?: string;
}

/** The step that decided. */
type DecisionStep =
  /** The scale cannot be read. */
  | 'no-scale'
  /** The target is outside its bounds; metrics were not evaluated. */
  | BoundsStep
  /** The selected pods are unknown, or another HPA selects them too. */
  | 'omitted-spec'
  | 'unclear-pods'
  /** Metrics are missing, and scaling without them is not safe. */
  | 'metrics-missing'
  | 'metrics';

/** Steps before metrics. */
export type BoundsStep =
  /** The target has no replicas and no HPA scaled it to zero: users disable an HPA this way. */
  'switched-off' | 'above-max' | 'below-min';
