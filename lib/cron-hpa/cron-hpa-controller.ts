import { isDeepStrictEqual } from 'node:util';
import { clockSteps } from '#lib/control/clock-steps.ts';
import { type Controller, mapKeys, type Watched } from '#lib/control/controller.ts';
import type { EventRecorder } from '#lib/control/event-recorder.ts';
import { MutationCache } from '#lib/control/mutation-cache.ts';
import type { ScaleClient } from '#lib/control/scale-client.ts';
import type { ScaleLog } from '#lib/control/scale-log.ts';
import { type StatefulObject, StatusWriter } from '#lib/control/status-writer.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import {
  type KubernetesObject,
  nameOfKey,
  type ObjectName,
} from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Schedules } from '#lib/schedule/schedules.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import type { Clock } from '#lib/time/clock.ts';
import {
  type CronHpa,
  type CronHpaStatus,
  FIELD_MANAGER,
  formatStatus,
  nameOf,
  readCronHpa,
} from './cron-hpa.ts';
import {
  eventsOf,
  failureMessage,
  type Happened,
  type Outcome,
  referenceTo,
  statusAfter,
  statusOfUnreadable,
  successMessage,
} from './cron-hpa-status.ts';
import type { CronHpaSeries } from './observability/cron-hpa-series.ts';
import {
  type Activation,
  dueActivations,
  nextActivation,
  type PlannedJob,
  planJobs,
} from './planned-jobs.ts';
import { type HpaClient, setSize } from './set-size.ts';
import {
  type Hpa,
  hindranceOf,
  hpaOf,
  targetKey,
  targetsOfCronHpa,
  targetsOfHpa,
} from './target-conflicts.ts';

/** What the controller works with. */
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
  /** Where the times of jobs are meant that do not tell. */
  readonly timeZone: string;
  readonly newJobId: () => string;
}

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

/** Scales targets by the clock. A new one for each term as leader: what it knows of its own writes ends with that. */
export function cronHpaController(dependencies: CronHpaDependencies): Controller {
  const { cronHpas, statuses, events, series, clock, newJobId } = dependencies;
  // A job that has been carried out would seem to be due while the informer shows what was there before.
  const writes = new MutationCache<CronHpa>((object) => object);
  const failures = new Map<string, number>();
  return {
    name: 'cronhpa',
    watches: cronHpaWatches(dependencies),
    async reconcile(key, signal) {
      let object = writes.latest(key, cronHpas.find(key));
      if (object && isDue(object, dependencies) && !writes.isOwn(key, object))
        object = await statuses.get(nameOfKey(key), signal); // an earlier leader may have carried it out just now
      if (!object || object.isBeingDeleted) {
        failures.delete(key);
        return {}; // nothing of ours stays behind
      }
      const nowMs = clock.nowMs();
      if (object.problem !== undefined) {
        const status = statusOfUnreadable(object, object.problem, nowMs);
        const written = await statuses.write(object, status, signal);
        if (written) writes.record(key, written);
        tell(object, { status, outcome: undefined, missed: [] }, events);
        return {};
      }
      const { jobs, due } = lookAt(object, nowMs, dependencies);
      const hpa = hpaOf(object, targetOf(object, dependencies.hpasByTarget));
      const hindrance = hindranceOf(object, {
        hpa,
        others: targetOf(object, dependencies.cronHpasByTarget),
      });
      const run = hindrance ? undefined : due.run;
      const outcome = run && (await carryOut(object, run, { ...dependencies, jobs, hpa, nowMs, signal }));
      const failed =
        outcome?.state === 'Failed'
          ? ({ reason: 'ScalingFailed', message: `Scaling failed: ${outcome.cause}` } as const)
          : undefined;
      // While a job fails, its activations stay due: those before are missed once it is dealt with.
      const missed = failed ? due.missed.filter(({ planned }) => planned !== outcome?.planned) : due.missed;
      const status = statusAfter(object, {
        nowMs,
        jobs,
        outcome,
        missed,
        hindrance: hindrance ?? failed,
        newJobId,
      });
      const written = await statuses.write(object, status, signal);
      if (written) writes.record(key, written);
      tell(object, { status, outcome, missed }, events);
      for (const { count } of missed) series.missed(count);
      if (outcome) series.carriedOut(outcome.state, nowMs - outcome.atMs);
      const againMs = Math.min(retryAfter(key, outcome, failures), untilNext(status, clock));
      return Number.isFinite(againMs) ? { requeueAfterMs: againMs } : {};
    },
  };
}

function tell(object: CronHpa, happened: Happened, events: CronHpaDependencies['events']): void {
  for (const event of eventsOf(object, happened))
    events.record({ regarding: referenceTo(object), action: 'Scale', ...event });
}

function lookAt(object: CronHpa, nowMs: number, { timeZone, schedules }: CronHpaDependencies) {
  const jobs = planJobs(object, { nowMs, timeZone, schedules });
  const deadlineMs = (object.spec.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  return { jobs, due: dueActivations(jobs, { nowMs, deadlineMs }) };
}

function isDue(object: CronHpa, dependencies: CronHpaDependencies): boolean {
  const { due } = lookAt(object, dependencies.clock.nowMs(), dependencies);
  return due.run !== undefined || due.missed.length > 0;
}

interface CarryOutOptions extends CronHpaDependencies {
  readonly jobs: readonly PlannedJob[];
  readonly hpa: Hpa | undefined;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

async function carryOut(
  object: CronHpa,
  { planned, atMs }: Activation,
  options: CarryOutOptions,
): Promise<Outcome> {
  const { job, timeZone } = planned;
  const { namespace, spec } = object;
  const { jobs, nowMs, signal } = options;
  const timesOf = (left: readonly PlannedJob[]) => {
    return { job: job.name, atMs, nextMs: nextActivation(left, nowMs)?.atMs, timeZone };
  };
  try {
    const cause = { by: `cronhpa ${object.name}`, why: `job ${job.name}` };
    const size = await setSize(object, job.targetSize, { ...options, cause });
    const left = job.runOnce ? jobs.filter((one) => one !== planned) : jobs;
    const message = successMessage({ ...timesOf(left), ...size, namespace, target: spec.scaleTargetRef });
    return { planned, atMs, state: 'Succeed', message, change: size.desired - size.current };
  } catch (error) {
    if (signal.aborted) throw error;
    const cause = isNotFound(error)
      ? `there is no ${spec.scaleTargetRef.kind} "${spec.scaleTargetRef.name}"`
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

/** After how long to try again, later from failure to failure; the queue's own backoff might wait beyond the next activation. */
function retryAfter(key: string, outcome: Outcome | undefined, failures: Map<string, number>): number {
  if (outcome?.state !== 'Failed') {
    failures.delete(key);
    return Number.POSITIVE_INFINITY;
  }
  const count = failures.get(key) ?? 0;
  failures.set(key, count + 1);
  return Math.min(FIRST_RETRY_MS * 2 ** count, LONGEST_RETRY_MS);
}

function untilNext({ nextScheduleTime }: CronHpaStatus, clock: Clock): number {
  return nextScheduleTime === undefined
    ? Number.POSITIVE_INFINITY
    : Date.parse(nextScheduleTime) - clock.nowMs();
}

function targetOf<T>({ namespace, spec }: CronHpa, byTarget: ByTarget<T>): readonly T[] {
  return byTarget(targetKey(namespace, spec.scaleTargetRef));
}

/** Finds what is about a target, by its key. */
type ByTarget<T> = (target: string) => readonly T[];

/** What {@link cronHpaWatches} follows. */
interface WatchedSources {
  readonly cronHpas: ObjectSource<CronHpa> & { keys(): Iterable<string> };
  readonly hpas: ObjectSource<Hpa>;
  readonly cronHpasByTarget: ByTarget<CronHpa>;
  readonly clock: Clock;
}

/** What has CronHorizontalPodAutoscalers reconciled: their changes, those of others on the same target, and the clock's. */
function cronHpaWatches({ cronHpas, hpas, cronHpasByTarget, clock }: WatchedSources): readonly Watched[] {
  const onTargets = (targets: Iterable<string>) => {
    const keys = new Set<string>();
    for (const target of targets) for (const one of cronHpasByTarget(target)) keys.add(nameOf(one));
    return keys;
  };
  return [
    mapKeys(cronHpas, (change) => [change.key, ...onTargets(targetsChanged(change, targetsOfCronHpa))]),
    mapKeys(hpas, (change) =>
      onTargets(targetsChanged(change, targetsOfHpa, ({ controller }) => controller)),
    ),
    clockSteps(clock, () => cronHpas.keys()),
  ];
}

/** The targets of an object that has come, has gone, or has turned to another target or owner. */
function targetsChanged<T>(
  { previous, current }: ObjectSourceChange<T>,
  targetsOf: (object: T) => readonly string[],
  ownerOf: (object: T) => unknown = () => undefined,
): ReadonlySet<string> {
  const before = previous ? targetsOf(previous) : [];
  const now = current ? targetsOf(current) : [];
  const factsOf = (object: T | undefined) => object && [targetsOf(object), ownerOf(object)];
  const isSame = isDeepStrictEqual(factsOf(previous), factsOf(current));
  return new Set(isSame ? [] : [...before, ...now]);
}

/** Reads and writes what counts: objects with their status, as the API server has them now. */
export interface StatusClient {
  /** `undefined` where there is none, or none that its schema allows. */
  get(name: ObjectName, signal: AbortSignal): Promise<CronHpa | undefined>;
  /**
   * Writes a status if it differs from that of the object.
   *
   * @returns the object as it is now, if anything was written
   * @throws a conflict where the object has changed since it was read
   */
  write(object: CronHpa, status: CronHpaStatus, signal: AbortSignal): Promise<CronHpa | undefined>;
}

/** Statuses, written over those alone that they follow from: what was carried out by another leader must not be lost. */
export function statusClient(objects: ResourceClient<KubernetesObject>, clock: Clock): StatusClient {
  const writer = new StatusWriter<object, StatefulObject<object>>({
    client: objects as ResourceClient<StatefulObject<object>>,
    fieldManager: FIELD_MANAGER,
    clock,
  });
  return {
    async get(name, signal) {
      const value = await objects.find(name, { signal });
      return value && readCronHpa(value);
    },
    async write({ namespace, name, uid, resourceVersion, status: current }, status, signal) {
      const metadata = { namespace, name, uid, resourceVersion };
      const isFirst = current.jobs.length === 0 && current.ready === undefined;
      const before = { metadata, ...(!isFirst && { status: formatStatus(current) }) };
      const after = await writer.applyOver(before, formatStatus(status), { signal });
      return after === before ? undefined : readCronHpa(after);
    },
  };
}

/** Objects that somebody follows, as an informer does, by the keys `NAMESPACE/NAME`. */
export interface ObjectSource<T> {
  find(key: string): T | undefined;
  onChange(listener: (change: ObjectSourceChange<T>) => void, options: { readonly replay: true }): () => void;
  synced(signal: AbortSignal): Promise<void>;
}

/** A change of one of them; `previous` is `undefined` once it is added, `current` once it is gone. */
export interface ObjectSourceChange<T> {
  readonly key: string;
  readonly previous: T | undefined;
  readonly current: T | undefined;
}
