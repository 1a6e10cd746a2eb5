import type { ConditionChange, ConditionRemoval } from '#lib/control/status/conditions.ts';
import type {
  HorizontalPodAutoscaler,
  HpaStatus,
  MetricStatus,
} from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import type { HpaConfig, MetricReading, Scale, ScaleFailure } from './decision/decision-input.ts';
import type { HpaMemory } from './decision/scaling-state.ts';
import type { Explanation } from './explanation.ts';

/** Everything that a decision follows from. */
export interface DecisionInput {
  readonly hpa: HorizontalPodAutoscaler;
  readonly scale: Scale | ScaleFailure;
  /** Those that the scale's selector selects. */
  readonly pods: readonly ScaledPod[];
  /** Other HPAs that select one of the pods, as `namespace/name`. */
  readonly rivals: readonly string[];
  /** One for each metric of the spec, in its order; not looked at where `needsMetrics` says no. */
  readonly readings: readonly MetricReading[];
  readonly memory: HpaMemory;
  readonly config: HpaConfig;
  readonly nowMs: number;
}

/** What is to be done about an HPA, before the scale is written. `conclude` makes an outcome of it. */
export interface Decision {
  /** What is to be written to the scale; `undefined` leaves it alone. */
  readonly scaleTo: number | undefined;
  /** Why, as the event puts it. */
  readonly scaleReason: string;
  readonly conditions: readonly (ConditionChange | ConditionRemoval)[];
  /** What becomes of the condition ScaledToZero once the scale is written. */
  readonly scaledToZero?: ConditionChange | ConditionRemoval;
  readonly events: readonly HpaEvent[];
  /** What the reconcile reports even if it scales. */
  readonly error: string | undefined;
  /** What the status says besides conditions; `undefined` leaves that as it is. */
  readonly status: DecidedStatus | undefined;
  readonly memory: HpaMemory;
  readonly explanation: Explanation;
}

/** What a status says besides its conditions. */
export interface DecidedStatus {
  readonly currentReplicas: number;
  /** `undefined` keeps what the status says. */
  readonly desiredReplicas: number | undefined;
  /** `null` where metrics were not looked at. */
  readonly currentMetrics: readonly MetricStatus[] | null;
}

export interface HpaEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** What became of a decision once the scale was written, or could not be. */
export interface Outcome {
  /** What was written to the scale. */
  readonly desiredReplicas: number | undefined;
  readonly status: HpaStatus;
  /** Whether the status differs from the one before, so that it is to be written. */
  readonly isStatusChanged: boolean;
  readonly events: readonly HpaEvent[];
  readonly error: string | undefined;
  readonly memory: HpaMemory;
  readonly explanation: Explanation;
}
