import type { MetricTarget, MetricValueStatus } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { Limit, Stabilization } from './decision/behavior.ts';
import type { MetricFailureOutcome } from './decision/evaluate-metrics.ts';
import type { Proposal } from './decision/replica-calculator.ts';
import type { BoundsStep } from './replica-bounds.ts';

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
export type DecisionStep =
  /** The target's scale could not be read. */
  | 'no-scale'
  /** The target is off its bounds, so metrics were not looked at. */
  | BoundsStep
  /** It is not known, or disputed, which pods are scaled. */
  | 'unclear-pods'
  /** Metrics are missing, and without them it is not safe to scale. */
  | 'metrics-missing'
  | 'metrics';

/** A proposal as an explanation holds it. */
export type ExplainedProposal = Omit<Proposal, 'current'>;

/** What one metric contributed. */
export interface MetricExplanation {
  readonly type: string;
  readonly name: string;
  readonly target: MetricTarget | undefined;
  /** As the status shows it. */
  readonly current: MetricValueStatus | undefined;
  /** When the oldest value was taken, where that is known. */
  readonly takenAtMs?: number;
  /** Without its amount, which `current` is the text of, so that all of this can be JSON. */
  readonly proposal?: ExplainedProposal;
  readonly failure?: MetricFailureOutcome;
}
