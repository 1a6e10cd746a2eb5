import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import type { Query } from '#lib/sources/query.ts';
import type { HpaMetric, ScaledHpa } from '../collected-metrics.ts';

/** One metric of an HPA, and how it is collected. */
export interface PlannedCollector {
  /** Identifies the metric among those of the HPA. */
  readonly key: string;
  readonly metric: HpaMetric;
  readonly collector: string;
  readonly query: Query;
  /** Absent for the default. */
  readonly intervalMs?: number;
  /** Whether the value is divided by the replicas of the HPA's target. */
  readonly perReplica: boolean;
  /** Whether all samples are served, not the first alone. */
  readonly servesAll: boolean;
  /** Notices about the configuration, which is valid nevertheless. */
  readonly notes: readonly string[];
}

/** Why a metric of an HPA cannot be collected. */
export interface PlanProblem {
  /** As in messages; empty where the metric is unknown. */
  readonly metric: string;
  readonly error: Error;
  /** Shown on pages, but without an event: no metric of the HPA is missing because of it. */
  readonly isQuiet?: boolean;
  /** Metrics of the HPA that nothing collects, of which `metric` is probably a misspelling. */
  readonly meant?: string;
}

/** A collected metric of an HPA, with its resource. */
export interface CollectedMetric extends PlannedCollector {
  /** Of metrics of objects: the resource of these. */
  readonly resource?: ApiResource;
}

/** Collected metrics and problems of an HPA. */
export interface CollectedHpa {
  readonly hpa: ScaledHpa;
  readonly metrics: readonly CollectedMetric[];
  readonly problems: readonly PlanProblem[];
}
