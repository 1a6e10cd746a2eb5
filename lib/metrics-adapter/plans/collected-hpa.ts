import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import type { Query } from '#lib/sources/query.ts';
import type { HpaMetric, ScaledHpa } from '../collected-metrics.ts';

/** One metric of an HPA, and how it is collected. */
export interface PlannedCollector {
  /** Of this metric, among those of the HPA. */
  readonly key: string;
  readonly metric: HpaMetric;
  readonly collector: string;
  readonly query: Query;
  /** Absent where the default counts. */
  readonly intervalMs?: number;
  /** Whether the value is divided by the replicas of the HPA's target. */
  readonly perReplica: boolean;
  /** Whether all samples are served, not the first alone. */
  readonly servesAll: boolean;
  /** What people should know of the configuration, though it can be used. */
  readonly notes: readonly string[];
}

/** What cannot be collected of an HPA. */
export interface PlanProblem {
  /** As messages name the metric; empty where it is not known which one is meant. */
  readonly metric: string;
  readonly error: Error;
  /** Told to who looks, but no event: nothing that the HPA asks for is missing because of it. */
  readonly isQuiet?: boolean;
  /** As messages name them, what the HPA asks for and nothing collects, where `metric` is most likely one of these misspelt. */
  readonly meant?: string;
}

/** A metric of an HPA that is collected, and of what. */
export interface CollectedMetric extends PlannedCollector {
  /** Of metrics of objects: what serves these. */
  readonly resource?: ApiResource;
}

/** What is known of an HPA's metrics. */
export interface CollectedHpa {
  readonly hpa: ScaledHpa;
  readonly metrics: readonly CollectedMetric[];
  readonly problems: readonly PlanProblem[];
}
