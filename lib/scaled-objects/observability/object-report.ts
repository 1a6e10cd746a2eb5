import type { Collection } from '#lib/collection/collection.ts';
import { keyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { ScaledJob } from '../api/scaled-job.ts';
import type { ScaledObject } from '../api/scaled-object.ts';
import type { JobSummary } from '../jobs/job-state.ts';
import { type ActivityLog, type ObservedMetric, observeMetrics } from '../metrics/metric-state.ts';
import type { ScaledObjectCollectors } from '../metrics/scaled-object-collectors.ts';
import type { PreparedScaledObject } from '../preparation/prepared-scaled-object.ts';
import type { PreparedTriggers } from '../preparation/prepared-triggers.ts';

/** An object and the state of its triggers, for the page, the debug endpoint and the series. */
export interface ObjectReport {
  readonly kind: 'ScaledObject' | 'ScaledJob';
  readonly key: string;
  readonly object: ScaledObject | ScaledJob;
  /** `undefined` while the triggers are not prepared, and in replicas that do not poll them. */
  readonly plan: PreparedTriggers | undefined;
  readonly observed: readonly ObservedMetric[];
  /** Absent for a ScaledJob. */
  readonly prepared?: PreparedScaledObject;
  readonly collection: Collection;
  readonly activity: ActivityLog | undefined;
  /** How often preparing its triggers failed. */
  readonly failedPlans: number;
  /** Of a ScaledJob, once they were listed. */
  readonly jobs?: JobSummary | undefined;
}

/** Polls and states of ScaledJobs, which only the leader has. */
export interface JobTerm {
  readonly collection: Collection;
  readonly prepared: { findTriggers(key: string): PreparedTriggers | undefined };
  readonly states: {
    activity(key: string): ActivityLog | undefined;
    jobs(key: string): JobSummary | undefined;
  };
}

export interface ObjectReportOptions {
  readonly objects: { values(): Iterable<ScaledObject> };
  readonly jobs: { values(): Iterable<ScaledJob> };
  readonly plans: ScaledObjectCollectors;
  readonly collection: Collection;
  /** `undefined` in a replica that does not lead. */
  readonly jobTerm: () => JobTerm | undefined;
}

export function* reportScaledObjects({
  objects,
  plans,
  collection,
}: ObjectReportOptions): Iterable<ObjectReport> {
  for (const object of objects.values()) {
    const key = keyOf(object.metadata);
    const plan = plans.find(key, object);
    const observed = plan ? plans.observe(key, object, plan) : [];
    const details = { activity: plans.activity(key), failedPlans: plans.failedCount(key) };
    const prepared = plans.prepared(object);
    yield { kind: 'ScaledObject', key, object, plan, observed, prepared, collection, ...details };
  }
}

/** Reports ScaledJobs in the leader, and none in other replicas. */
export function* reportScaledJobs({ jobs, jobTerm }: ObjectReportOptions): Iterable<ObjectReport> {
  const term = jobTerm();
  if (!term) return;
  const { collection, prepared, states } = term;
  for (const object of jobs.values()) {
    const key = keyOf(object.metadata);
    const plan = prepared.findTriggers(key);
    const unknown = { owner: key, collection, fallback: undefined, health: undefined };
    const observed = plan ? observeMetrics(plan, unknown) : [];
    const details = { activity: states.activity(key), failedPlans: 0, jobs: states.jobs(key) };
    yield { kind: 'ScaledJob', key, object, plan, observed, collection, ...details };
  }
}
