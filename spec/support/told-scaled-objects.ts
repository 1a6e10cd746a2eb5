import type { ScaledJob } from '#lib/scaled-objects/api/scaled-job.ts';
import type { ScaledObject } from '#lib/scaled-objects/api/scaled-object.ts';
import type { JobSummary } from '#lib/scaled-objects/jobs/job-state.ts';
import type { MetricState } from '#lib/scaled-objects/metrics/metric-state.ts';
import type { DebugOptions } from '#lib/scaled-objects/observability/debug-scaled-objects.ts';
import { compileScaledObject } from '#lib/scaled-objects/preparation/prepared-scaled-object.ts';
import type { PreparedTrigger } from '#lib/scaled-objects/preparation/prepared-triggers.ts';
import { ManualClock } from './manual-clock.ts';

/** When it is told. */
export const TOLD_AT = '2026-07-15T08:00:00Z';

/** What is known of one metric: of its state, and of how its source is asked. */
export interface KnownMetric {
  readonly state: MetricState;
  readonly failure?: { readonly count: number; readonly sinceMs: number; readonly error: Error };
  readonly nextInMs?: number;
  readonly tookMs?: number;
  /** What else is recorded of its polls. */
  readonly record?: object;
  /** How often its source has responded by HTTP, by status. */
  readonly statuses?: Readonly<Record<string, number>>;
  readonly activity?: { readonly isActive: boolean; readonly sinceMs: number };
}

/** What is known of objects, by their keys, and of their metrics, by the names of these. */
export interface KnownObjects {
  readonly objects?: readonly ScaledObject[];
  readonly jobs?: readonly ScaledJob[];
  readonly triggers?: Readonly<Record<string, readonly PreparedTrigger[]>>;
  readonly metrics?: Readonly<Record<string, KnownMetric>>;
  readonly next?: Readonly<Record<string, { readonly what: string; readonly atMs: number | undefined }>>;
  /** How often the triggers of an object could not be planned. */
  readonly failedPlans?: Readonly<Record<string, number>>;
  /** The replicas of an object's target at times. */
  readonly replicas?: Readonly<Record<string, readonly { readonly atMs: number; readonly value: number }[]>>;
  /** The Jobs of ScaledJobs as they were listed. */
  readonly listedJobs?: Readonly<Record<string, JobSummary>>;
  /** Whether this replica acts; it does unless told otherwise. */
  readonly isLeader?: boolean;
  /** Another operator that acts, and on which objects: kinds and keys. */
  readonly other?: { readonly evidence: string; readonly on: readonly string[] };
}

/** What pages and `/debug/` show, made of what a spec says is known. */
export function toldOf(known: KnownObjects): DebugOptions {
  const { objects = [], jobs = [], triggers = {}, metrics = {}, next = {} } = known;
  const { other, isLeader = true, failedPlans = {}, replicas = {}, listedJobs = {} } = known;
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
    clock: new ManualClock(Date.parse(TOLD_AT)),
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

/** A trigger with nothing but what is told of it: with a metric of a name, one of resources, or an error. */
export function toldTrigger(
  type: string,
  { metric, ...more }: Partial<PreparedTrigger> & { readonly metric?: ToldMetric } = {},
): PreparedTrigger {
  const metrics = metric && [
    {
      ...{ targetType: 'AverageValue', target: 5, ...metric },
      query: { description: metric.asked ?? `value of ${metric.metricName}` },
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

interface ToldMetric {
  readonly metricName: string;
  readonly target?: number;
  readonly targetType?: 'AverageValue' | 'Value';
  readonly asked?: string;
  readonly isEmptyZero?: boolean;
}
