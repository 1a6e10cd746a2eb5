import { getOwn } from '#lib/kubernetes/get-own.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import type { ObjectEvents } from '../api/object-events.ts';
import type { ScaledJob } from '../api/scaled-job.ts';
import { type ObservedMetric, observeMetrics } from '../metrics/metric-state.ts';
import type { PreparedScaledJob } from '../preparation/prepared-scaled-job.ts';
import { type PreparedTriggers, preparedMetrics } from '../preparation/prepared-triggers.ts';
import {
  isClockStepped,
  recordClockOffset,
  type ScaledJobDependencies,
  type ScaledJobState,
} from './job-context.ts';
import { combineDemands, demandOf, type JobDemand, newJobCount } from './job-count.ts';
import { pendingJobs, runningJobs, summarizeJobs, surplusJobs } from './job-state.ts';

interface CreateJobsOptions
  extends Pick<ScaledJobDependencies, 'clock' | 'collection' | 'jobs' | 'scaleLog'> {
  readonly key: string;
  readonly prepared: PreparedScaledJob;
  readonly plan: PreparedTriggers;
  readonly jobState: ScaledJobState;
  readonly own: ObjectEvents;
  readonly signal: AbortSignal;
}

/** Outcome for the status of the ScaledJob. */
export interface CreatedJobs {
  /** `undefined` while a trigger is not polled yet. */
  readonly isActive: boolean | undefined;
  /** `undefined` while a trigger is not polled yet, and none fails. */
  readonly ready: 'ready' | 'partialError' | 'triggerError' | undefined;
  readonly triggersActivity: Readonly<Record<string, { readonly isActive: boolean }>>;
}

/** Jobs end with a resolution of one second: one that ended this long before the poll may still be part of the queue length. */
const MARGIN_MS = 2000;

/**
 * Creates Jobs by the values of triggers, once for each round of polls that all triggers have completed, and deletes finished
 * Jobs beyond the history limits.
 */
export async function createJobs(object: ScaledJob, options: CreateJobsOptions): Promise<CreatedJobs> {
  const { key, prepared, plan, jobState, collection, jobs, signal } = options;
  const observed = observeMetrics(plan, { owner: key, collection, fallback: undefined, health: undefined });
  recordFailures(observed, options);
  jobState.activity.record(observed, options.clock.nowMs());
  const demand = totalDemand(prepared, plan, observed);
  const hasError = observed.some(({ state }) => state.kind === 'failing');
  const isPending = observed.some(({ state }) => state.kind === 'pending');
  const result: CreatedJobs = {
    isActive: isPending && !demand.isActive ? undefined : demand.isActive,
    ready: hasError ? (demand.isActive ? 'partialError' : 'triggerError') : isPending ? undefined : 'ready',
    triggersActivity: triggersActivity(object, observed),
  };
  const responses = new Map(
    preparedMetrics(plan).flatMap(({ metricName }): [string, object][] => {
      const response = collection.failure(key, metricName) ?? collection.reading(key, metricName);
      return response ? [[metricName, response]] : [];
    }),
  );
  const isNew = ({ metric: { metricName } }: ObservedMetric) =>
    responses.get(metricName) !== jobState.usedResponses.get(metricName);
  // Triggers are polled at different times, and a value for which Jobs exist must not count again together with a newer value
  // of another trigger. So wait until all triggers are polled, for one interval at most. A failing trigger demands nothing.
  const isComplete = observed.every((one) => one.state.kind !== 'value' || isNew(one));
  if (isPending || !isComplete || !observed.some(isNew)) return result;
  const all = await jobs.list(object, signal);
  jobState.jobs = summarizeJobs(all, options.clock.nowMs());
  jobState.usedResponses = responses; // Jobs may exist for them from here on
  await create(object, { ...options, demand, observed, all });
  for (const job of surplusJobs(all, prepared.historyLimits)) await jobs.delete(job, 'Background', signal);
  return result;
}

/** A metric that is not polled yet remains unchanged: the replica that led before has polled it. */
function triggersActivity(
  { status }: ScaledJob,
  observed: readonly ObservedMetric[],
): CreatedJobs['triggersActivity'] {
  return Object.fromEntries(
    observed.flatMap(({ metric: { metricName }, state }) => {
      if (state.kind === 'value') return [[metricName, { isActive: state.isActive }]];
      const before = state.kind === 'pending' ? getOwn(status?.triggersActivity, metricName) : undefined;
      return before ? [[metricName, before]] : [];
    }),
  );
}

function totalDemand(
  { bounds: { min, max }, strategy }: PreparedScaledJob,
  plan: PreparedTriggers,
  observed: readonly ObservedMetric[],
): JobDemand {
  const demands = plan.triggers.flatMap((trigger) => {
    const demand = demandOf(
      observed.filter((one) => one.trigger === trigger),
      max,
    );
    return demand ? [demand] : [];
  });
  const calculation = strategy.multipleScalersCalculation ?? 'max';
  return combineDemands(demands, { calculation, min, max });
}

interface CreateOptions extends CreateJobsOptions {
  readonly demand: JobDemand;
  readonly observed: readonly ObservedMetric[];
  readonly all: Awaited<ReturnType<CreateJobsOptions['jobs']['list']>>;
}

async function create(
  object: ScaledJob,
  { prepared, demand, observed, all, jobs, scaleLog, jobState, clock, own, signal }: CreateOptions,
): Promise<void> {
  if (!demand.isActive) return;
  const observedAtMs = Math.min(
    ...observed.flatMap(({ state }) => (state.kind === 'value' ? [state.atMs] : [])),
  );
  if (isClockStepped(jobState, clock)) await compareClocks(object, { jobs, jobState, clock, signal });
  // The end of a Job is a time of the API server's clock.
  const running = runningJobs(all, observedAtMs - jobState.clockAheadMs - MARGIN_MS);
  const { strategy, bounds } = prepared;
  const needsPods = strategy.strategy === 'accurate' || strategy.strategy === 'eager';
  const pods = needsPods && running.length > 0 ? await jobs.pods(object, signal) : [];
  const pending = needsPods ? pendingJobs(running, pods, strategy.pendingPodConditions ?? []) : [];
  const counts = { running: running.length, pending: pending.length, ...bounds };
  const count = newJobCount(demand, counts, strategy);
  let made = 0;
  for (let index = 0; index < count; index++) {
    try {
      const createdAtMs = await jobs.create(object, { signal });
      recordClockOffset(jobState, createdAtMs, clock);
      made++;
    } catch (error) {
      signal.throwIfAborted();
      own.warning(
        'KEDAJobCreateFailed',
        `Failed to create job ${object.metadata.name}-: ${describeError(error)}`,
      );
    }
  }
  if (made === 0) return;
  own.normal('KEDAJobsCreated', `Created ${made} jobs`);
  const { namespace, name } = object.metadata;
  const why = `${running.length} running, queue length ${demand.queueLength}`;
  scaleLog.jobsCreated(`${namespace}/${name}`, made, { by: `scaledjob ${name}`, why });
}

/** Measures the offset of the API server's clock by a dry run. Ignores failures: creating the Jobs reports them. */
async function compareClocks(
  object: ScaledJob,
  { jobs, jobState, clock, signal }: Pick<CreateOptions, 'jobs' | 'jobState' | 'clock' | 'signal'>,
): Promise<void> {
  try {
    recordClockOffset(jobState, await jobs.create(object, { signal, dryRun: true }), clock);
  } catch {
    signal.throwIfAborted();
  }
}

function recordFailures(observed: readonly ObservedMetric[], { jobState, own }: CreateJobsOptions): void {
  const errors = observed.flatMap(({ state }) =>
    state.kind === 'failing' ? [describeError(state.error)] : [],
  );
  const text = errors.join('\n');
  if (text !== jobState.failures) for (const error of new Set(errors)) own.warning('KEDAScalerFailed', error);
  jobState.failures = text;
}
