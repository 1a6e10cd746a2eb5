import type { ScaledJob } from '#lib/scaled-objects/api/scaled-job.ts';
import type { ScaledObject } from '#lib/scaled-objects/api/scaled-object.ts';
import type { JobSummary } from '#lib/scaled-objects/jobs/job-state.ts';
import type { MetricState } from '#lib/scaled-objects/metrics/metric-state.ts';
import type { DebugOptions } from '#lib/scaled-objects/observability/debug-scaled-objects.ts';
import { compileScaledObject } from '#lib/scaled-objects/preparation/prepared-scaled-object.ts';
import type { PreparedTrigger } from '#lib/scaled-objects/preparation/prepared-triggers.ts';
import { ManualClock } from './manual-clock.ts';

/** The time of the reports. */
export const REPORTED_AT = '2026-07-15T08:00:00Z';

/** The state of a metric, and the query of its source. */
export interface ObservedMetric {
  readonly state: MetricState;
  readonly failure?: { readonly count: number; readonly sinceMs: number; readonly error: Error };
  readonly nextInMs?: number;
  readonly tookMs?: number;
  /** Further fields of the record of its polls. */
  readonly record?: object;
  /** Number of HTTP responses of its source, by status. */
  readonly statuses?: Readonly<Record<string, number>>;
  readonly activity?: { readonly isActive: boolean; readonly sinceMs: number };
}

export interface ObservedObjects {
  readonly objects?: readonly ScaledObject[];
  readonly jobs?: readonly ScaledJob[];
  readonly triggers?: Readonly<Record<string, readonly PreparedTrigger[]>>;
  readonly metrics?: Readonly<Record<string, ObservedMetric>>;
  readonly next?: Readonly<Record<string, { readonly what: string; readonly atMs: number | undefined }>>;
  /** Number of failed plans of an object's triggers, by key. */
  readonly failedPlans?: Readonly<Record<string, number>>;
  /** The replicas of an object's target over time. */
  readonly replicas?: Readonly<Record<string, readonly { readonly atMs: number; readonly value: number }[]>>;
  /** The listed Jobs of ScaledJobs. */
  readonly listedJobs?: Readonly<Record<string, JobSummary>>;
  /** Whether this replica is the leader. By default true. */
  readonly isLeader?: boolean;
  /** An active external controller, and the kinds and keys of its objects. */
  readonly other?: { readonly evidence: string; readonly on: readonly string[] };
}

/** Builds the input of pages and `/debug/` from the states that a spec sets. */
export function debugOptions(existing: ObservedObjects): DebugOptions {
  const { objects = [], jobs = [], triggers = {}, metrics = {}, next = {} } = existing;
  const { other, isLeader = true, failedPlans = {}, replicas = {}, listedJobs = {} } = existing;
  const plan = (key: string) =>
    triggers[key] && { uid: '1', generation: 1, preparedAtMs: 0, triggers: triggers[key] };
  const activity = { of: (name: string) => metrics[name]?.activity };
  const collection = {
    failure: (_: string, name: string) => metrics[name]?.failure,
    nextInMs: (_: string, name: string) => metrics[name]?.nextInMs,
    record: (_: string, name: string) => {
      const { tookMs: durationMs, record } = metrics[name] ?? {};
      return durationMs === undefined ? undefined : { durationMs, ...record };
    },
    query: (_: string, name: string) => {
      const { statuses } = metrics[name] ?? {};
      return statuses && { requests: { counts: new Map(Object.entries(statuses)) } };
    },
    reading: (_: string, name: string) =>
      metrics[name]?.state.kind === 'value' ? { samples: [], receivedAtMs: 0 } : undefined,
  };
  return {
    ...{ objects, jobs, collection },
    clock: new ManualClock(Date.parse(REPORTED_AT)),
    plans: {
      prepared: compileScaledObject,
      find: plan,
      activity: () => activity,
      failedCount: (key: string) => failedPlans[key] ?? 0,
      observe: (key: string) =>
        triggers[key]?.flatMap((trigger) =>
          trigger.metrics.map((metric) => ({
            ...{ trigger, metric, isPushed: false },
            state: metrics[metric.metricName]?.state ?? { kind: 'pending' },
          })),
        ),
    },
    jobTerm: () =>
      isLeader
        ? {
            collection,
            prepared: { findTriggers: plan },
            states: { activity: () => activity, jobs: (key: string) => listedJobs[key] },
          }
        : undefined,
    states: {
      nextOf: (key: string) => next[key],
      replicasOf: (key: string) => replicas[key] && { points: () => replicas[key] },
    },
    kedaDetector: {
      evidence: other?.evidence,
      evidenceFor: (kind: string, { metadata }: ScaledObject) =>
        other?.on.includes(`${kind} ${metadata.name}`) ? other.evidence : undefined,
    },
  } as unknown as DebugOptions;
}

/** A trigger with a named metric, a resource metric or an error. */
export function preparedTrigger(
  type: string,
  { metric, ...more }: Partial<PreparedTrigger> & { readonly metric?: ReportedMetric } = {},
): PreparedTrigger {
  const metrics = metric && [
    {
      ...{ targetType: 'AverageValue', target: 5, ...metric },
      query: { description: metric.requested ?? `value of ${metric.metricName}` },
      evaluate: () => ({ values: [3], isActive: true }),
    } as unknown as PreparedTrigger['metrics'][number],
  ];
  return {
    ...{
      index: 0,
      type,
      name: undefined,
      scaler: more.name || `${type}Scaler`,
      isCached: false,
      unmatched: [],
      missing: [],
    },
    ...{ metrics: metrics ?? [], resource: undefined, push: undefined, error: undefined, ...more },
  };
}

interface ReportedMetric {
  readonly metricName: string;
  readonly target?: number;
  readonly targetType?: 'AverageValue' | 'Value';
  readonly requested?: string;
  readonly isEmptyZero?: boolean;
}
