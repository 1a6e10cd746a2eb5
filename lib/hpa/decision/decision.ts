import type { EventText } from '#lib/control/event-recorder.ts';
import type { HpaStatus, MetricStatus } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { Limit, Stabilization } from './behavior.ts';
import type { MetricExplanation } from './evaluate-metrics.ts';
import type { ConditionChange, ConditionRemoval } from './hpa-conditions.ts';
import type { HpaMemory } from './scaling-state.ts';

/** What is to be done about an HPA, before the scale is written. `conclude` makes an outcome of it. */
export interface Decision {
  /** What is to be written to the scale; `undefined` leaves it alone. */
  readonly scaleTo: number | undefined;
  /** Why, as the event puts it. */
  readonly scaleReason: string;
  readonly conditions: readonly (ConditionChange | ConditionRemoval)[];
  /** What becomes of the condition ScaledToZero once the scale is written. */
  readonly scaledToZero?: ConditionChange | ConditionRemoval;
  readonly events: readonly EventText[];
  /** What the reconcile reports even if it scales. */
  readonly error: string | undefined;
  /** What the status says besides conditions; `undefined` leaves that as it is. */
  readonly status: DecidedStatus | undefined;
  readonly memory: HpaMemory;
  readonly explanation: Explanation;
}

/** What a status says besides its conditions. */
interface DecidedStatus {
  readonly currentReplicas: number;
  /** `undefined` keeps what the status says. */
  readonly desiredReplicas: number | undefined;
  /** `null` where metrics were not looked at. */
  readonly currentMetrics: readonly MetricStatus[] | null;
}

/** What became of a decision once the scale was written, or could not be. */
export interface Outcome {
  /** What was written to the scale. */
  readonly desiredReplicas: number | undefined;
  readonly status: HpaStatus;
  /** Whether the status differs from the one before, so that it is to be written. */
  readonly isStatusChanged: boolean;
  readonly events: readonly EventText[];
  readonly error: string | undefined;
  readonly memory: HpaMemory;
  readonly explanation: Explanation;
}

/** Why a decision is what it is: the whole calculation, as data. */
export interface Explanation {
  readonly atMs: number;
  readonly step: DecisionStep;
  /** `undefined` where the scale could not be read. */
  readonly currentReplicas: number | undefined;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  /** In the order of the spec; empty where the metrics were not looked at. */
  readonly metrics: readonly MetricExplanation[];
  /** The metric that asks for the most, by its place among `metrics`. */
  readonly leadingMetric?: number;
  /** What the metrics ask for together. */
  readonly proposedReplicas?: number;
  readonly stabilization?: Omit<Stabilization, 'recommendations'>;
  readonly limit?: Limit;
  /** What the target is to have. */
  readonly desiredReplicas: number | undefined;
  /** Why nothing could be decided. */
  readonly problem?: string;
}

/** What decided. */
type DecisionStep =
  /** The target's scale could not be read. */
  | 'no-scale'
  /** The target is off its bounds, so metrics were not looked at. */
  | BoundsStep
  /** It is not known, or disputed, which pods are scaled. */
  | 'unclear-pods'
  /** Metrics are missing, and without them it is not safe to scale. */
  | 'metrics-missing'
  | 'metrics';

/** What decides before metrics do. */
export type BoundsStep =
  /** The target has no replicas, and no HPA scaled it to zero: that is how users switch an HPA off. */
  'switched-off' | 'above-max' | 'below-min';
