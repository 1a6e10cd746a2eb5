import { isDeepStrictEqual } from 'node:util';
import { type EventLoopShare, runAllSteps, type Steps } from '#lib/concurrency/event-loop.ts';
import { clockSteps } from '#lib/control/clock-steps.ts';
import { type ChangeSource, type Controller, mapKeys, type Watched } from '#lib/control/controller.ts';
import type { EventRecorder } from '#lib/control/event-recorder.ts';
import { MutationCache } from '#lib/control/mutation-cache.ts';
import type { ScaleClient } from '#lib/control/scale-client.ts';
import type { ScaleLog } from '#lib/control/scale-log.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import type { ObjectChange } from '#lib/kubernetes/informer/object-store.ts';
import type { SharedInformer } from '#lib/kubernetes/informer/shared-informers.ts';
import { nameOfKey } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Schedules } from '#lib/schedule/parse-schedule.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { RetryDelays } from '#lib/time/backoff.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type CronHpa, type CronHpaStatus, nameOf } from './cron-hpa.ts';
import type { CronHpaKind, StatusClient } from './cron-hpa-kind.ts';
import {
  eventsOf,
  failureMessage,
  invalidSpecStatus,
  type Outcome,
  type ReconcileReport,
  referenceTo,
  statusAfter,
  successMessage,
} from './cron-hpa-status.ts';
import type { HpaClient } from './hpa-bounds.ts';
import type { CronHpaSeries } from './observability/cron-hpa-series.ts';
import {
  type Activation,
  type DueActivations,
  dueActivationsInSteps,
  nextActivation,
  type PlannedJob,
  planJobsInSteps,
  runsOnce,
} from './planned-jobs.ts';
import { setSize } from './set-size.ts';
import {
  findBlocker,
  type Hpa,
  hpaOf,
  targetKey,
  targetsOfCronHpa,
  targetsOfHpa,
} from './target-conflicts.ts';

interface CronHpaDependencies extends WatchedSources {
  readonly hpasByTarget: ByTarget<Hpa>;
  readonly statuses: StatusClient;
  readonly scales: Pick<ScaleClient, 'get' | 'set'>;
  readonly hpaClient: HpaClient;
  readonly scaleLog: Pick<ScaleLog, 'minReplicasChanged'>;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly series: CronHpaSeries;
  readonly clock: Clock;
  readonly schedules: Schedules;
  /** Shares of the event loop, for objects with many jobs or excluded dates. */
  readonly share: EventLoopShare;
  /** Time zone of jobs that name none. */
  readonly timeZone: string;
  readonly newJobId: () => string;
}

const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

/** Scales targets by the clock. Create one per leadership term: its cache of own writes is valid for that term only. */
export function cronHpaController(dependencies: CronHpaDependencies): Controller {
  const { cronHpas, statuses, events, series, clock, newJobId } = dependencies;
  // A completed job would look due while the informer still shows the object before the status write.
  const writes = new MutationCache<CronHpa>((object) => object);
  const retries = new RetryDelays({ firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS });
  return {
    name: dependencies.kind.controller,
    watches: cronHpaWatches(dependencies),
    async reconcile(key, signal) {
      let object = writes.latest(key, cronHpas.find(key));
      let plan = object && (await planObject(object, dependencies, signal));
      if (object && plan && isDue(plan) && !writes.isOwn(key, object)) {
        object = await statuses.get(nameOfKey(key), signal); // an earlier leader may just have run the job
        plan = object && (await planObject(object, dependencies, signal));
      }
      if (!object || !plan || object.isBeingDeleted) {
        retries.succeeded(key);
        return {}; // nothing to clean up
      }
      const { jobs, due, nowMs } = plan;
      if (object.problem !== undefined) {
        const status = invalidSpecStatus(object, object.problem, nowMs);
        const written = await statuses.write(object, status, signal);
        if (written) writes.record(key, written);
        recordEvents(object, { status, outcome: undefined, missed: [] }, events);
        return {};
      }
      const hpa = hpaOf(object, targetOf(object, dependencies.hpasByTarget));
      const blocker = findBlocker(object, {
        hpa,
        others: targetOf(object, dependencies.cronHpasByTarget),
      });
      const run = blocker ? undefined : due.run;
      const outcome = run && (await runActivation(object, run, { ...dependencies, jobs, hpa, signal }));
      const failed =
        outcome?.state === 'Failed'
          ? ({ reason: 'ScalingFailed', message: `Scaling failed: ${outcome.cause}` } as const)
          : undefined;
      // The activations of a failing job stay due; the earlier ones count as missed once it has been handled.
      const missed = failed ? due.missed.filter(({ planned }) => planned !== outcome?.planned) : due.missed;
      const status = statusAfter(object, {
        nowMs,
        jobs,
        outcome,
        missed,
        blocker: blocker ?? failed,
        newJobId,
      });
      const written = await statuses.write(object, status, signal);
      if (written) writes.record(key, written);
      recordEvents(object, { status, outcome, missed }, events);
      for (const { count } of missed) series.missed(count);
      if (outcome) series.carriedOut(outcome.state, nowMs - outcome.atMs);
      const againMs = Math.min(retryAfter(key, outcome, retries), untilNext(status, clock));
      return Number.isFinite(againMs) ? { requeueAfterMs: againMs } : {};
    },
  };
}

function recordEvents(object: CronHpa, report: ReconcileReport, events: CronHpaDependencies['events']): void {
  for (const event of eventsOf(object, report))
    events.record({ regarding: referenceTo(object), action: 'Scale', ...event });
}

/** The jobs of an object at a time, and their activations that are due. */
interface Plan {
  readonly nowMs: number;
  readonly jobs: readonly PlannedJob[];
  readonly due: DueActivations;
}

/** Jobs, or excluded dates of one, that are planned at once. */
const MAX_QUICK_JOBS = 4;
const MAX_QUICK_DATES = 32;

/** Plans an object; one with many jobs or excluded dates, which takes milliseconds, in shares of the event loop. */
async function planObject(
  object: CronHpa,
  dependencies: CronHpaDependencies,
  signal: AbortSignal,
): Promise<Plan> {
  const { namespace, spec } = object;
  const isQuick =
    spec.jobs.length <= MAX_QUICK_JOBS &&
    spec.jobs.every((job) => spec.excludeDates.length + job.excludeDates.length <= MAX_QUICK_DATES);
  const steps = planInSteps(object, dependencies);
  return isQuick
    ? runAllSteps(steps)
    : await dependencies.share.runSteps(steps, { tenant: namespace, signal });
}

function* planInSteps(
  object: CronHpa,
  { clock, timeZone, schedules }: Pick<CronHpaDependencies, 'clock' | 'timeZone' | 'schedules'>,
): Steps<Plan> {
  const nowMs = clock.nowMs();
  const jobs = yield* planJobsInSteps(object, { nowMs, timeZone, schedules });
  const deadlineMs = (object.spec.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  return { nowMs, jobs, due: yield* dueActivationsInSteps(jobs, { nowMs, deadlineMs }) };
}

function isDue({ due }: Plan): boolean {
  return due.run !== undefined || due.missed.length > 0;
}

interface RunActivationOptions extends CronHpaDependencies {
  readonly jobs: readonly PlannedJob[];
  readonly hpa: Hpa | undefined;
  readonly signal: AbortSignal;
}

async function runActivation(
  object: CronHpa,
  { planned, atMs }: Activation,
  options: RunActivationOptions,
): Promise<Outcome> {
  const { job, timeZone } = planned;
  const { namespace, spec } = object;
  const { jobs, signal } = options;
  const timesOf = (left: readonly PlannedJob[]) => {
    return { job: job.name, atMs, nextMs: nextActivation(left)?.atMs, timeZone };
  };
  try {
    const cause = { by: `cronhpa ${object.name}`, why: `job ${job.name}` };
    const size = await setSize(object, job.targetSize, { ...options, cause });
    const left = runsOnce(job) ? jobs.filter((one) => one !== planned) : jobs;
    const message = successMessage({ ...timesOf(left), ...size, namespace, target: spec.scaleTargetRef });
    return { planned, atMs, state: 'Succeed', message, change: size.desired - size.current };
  } catch (error) {
    if (signal.aborted) throw error;
    const cause = isNotFound(error)
      ? `${spec.scaleTargetRef.kind} "${spec.scaleTargetRef.name}" not found`
      : describeError(error);
    return {
      planned,
      atMs,
      state: 'Failed',
      message: failureMessage({ ...timesOf(jobs), reason: cause }),
      cause,
      change: 0,
    };
  }
}

/** The delay before the next attempt. The backoff of the queue could exceed the time to the next activation. */
function retryAfter(key: string, outcome: Outcome | undefined, retries: RetryDelays): number {
  if (outcome?.state === 'Failed') return retries.failed(key);
  retries.succeeded(key);
  return Number.POSITIVE_INFINITY;
}

function untilNext({ nextScheduleTime }: CronHpaStatus, clock: Clock): number {
  return nextScheduleTime === undefined
    ? Number.POSITIVE_INFINITY
    : Date.parse(nextScheduleTime) - clock.nowMs();
}

function targetOf<T>({ namespace, spec }: CronHpa, byTarget: ByTarget<T>): readonly T[] {
  return byTarget(targetKey(namespace, spec.scaleTargetRef));
}

/** Returns the cached objects with the target key {@link targetKey}. */
type ByTarget<T> = (target: string) => readonly T[];

interface WatchedSources {
  /** The kind of the objects that are reconciled. */
  readonly kind: Pick<CronHpaKind, 'controller' | 'resource'>;
  readonly cronHpas: ChangeSource<ObjectChange<CronHpa>> & Pick<SharedInformer<CronHpa>, 'find' | 'values'>;
  /** Objects of other kinds, which may have the same targets. */
  readonly otherCronHpas: readonly ChangeSource<ObjectChange<CronHpa>>[];
  readonly hpas: ChangeSource<ObjectChange<Hpa>>;
  /** Objects of all kinds. */
  readonly cronHpasByTarget: ByTarget<CronHpa>;
  readonly clock: Clock;
}

/** Reconciles an object when it changes, when another scaler of its target changes, and when the clock is stepped. */
function cronHpaWatches(sources: WatchedSources): readonly Watched[] {
  const { kind, cronHpas, otherCronHpas, hpas, cronHpasByTarget, clock } = sources;
  const onTargets = (targets: Iterable<string>) => {
    const keys = new Set<string>();
    for (const target of targets)
      for (const one of cronHpasByTarget(target))
        if (one.group === kind.resource.group) keys.add(nameOf(one));
    return keys;
  };
  return [
    mapKeys(cronHpas, (change) => [change.key, ...onTargets(targetsChanged(change, targetsOfCronHpa))]),
    ...otherCronHpas.map((others) => ({
      ...mapKeys(others, (change) => onTargets(targetsChanged(change, targetsOfCronHpa))),
      synced: async () => {}, // their kind may never be served
    })),
    mapKeys(hpas, (change) =>
      onTargets(targetsChanged(change, targetsOfHpa, ({ controller }) => controller)),
    ),
    clockSteps(clock, () => [...cronHpas.values()].map(nameOf)),
  ];
}

/** The targets of an object that was added or deleted, or whose target or owner changed. */
function targetsChanged<T>(
  { previous, current }: ObjectChange<T>,
  targetsOf: (object: T) => readonly string[],
  ownerOf: (object: T) => unknown = () => undefined,
): ReadonlySet<string> {
  const before = previous ? targetsOf(previous) : [];
  const now = current ? targetsOf(current) : [];
  const factsOf = (object: T | undefined) => object && [targetsOf(object), ownerOf(object)];
  const isSame = isDeepStrictEqual(factsOf(previous), factsOf(current));
  return new Set(isSame ? [] : [...before, ...now]);
}
