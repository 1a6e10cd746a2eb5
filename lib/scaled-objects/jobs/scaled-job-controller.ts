import { isDeepStrictEqual } from 'node:util';
import type { Collection, Collector } from '#lib/collection/collection.ts';
import { formatTime } from '#lib/control/conditions.ts';
import { type Controller, DONE, type ReconcileResult, type Watched } from '#lib/control/controller.ts';
import type { EventRecorder } from '#lib/control/event-recorder.ts';
import { addFinalizer, removeFinalizer } from '#lib/control/finalizers.ts';
import type { StatusWriter } from '#lib/control/status-writer.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { describeError } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ClusterReader } from '../authentication/cluster-reader.ts';
import { containerEnvironment } from '../authentication/container-environment.ts';
import { eventsOf, type ObjectEvents } from '../loop/scaled-object-events.ts';
import { requestsOf } from '../objects/annotations.ts';
import { FINALIZER } from '../objects/resources.ts';
import type { ScaledJob, ScaledJobStatus } from '../objects/scaled-job.ts';
import { KeySignal } from '../plan/key-signal.ts';
import { planTriggers } from '../plan/plan-triggers.ts';
import { type PlannedObject, plannedMetrics } from '../triggers/planned-object.ts';
import type { TriggerTypes } from '../triggers/trigger-types.ts';
import type { JobClient } from './job-client.ts';
import { JOB_CONDITIONS, jobCheckFailed, withJobConditions } from './job-conditions.ts';
import { makeJobs } from './make-jobs.ts';
import { GENERATION_ANNOTATION } from './new-job.ts';

/** What the controller of ScaledJobs works with. */
export interface ScaledJobDependencies {
  readonly objects: Watched & { find(key: string): ScaledJob | undefined };
  /** What has objects planned again: their authentications. */
  readonly others: readonly Watched[];
  readonly collection: Collection;
  readonly client: ResourceClient<ScaledJob>;
  readonly statuses: StatusWriter<ScaledJobStatus, ScaledJob>;
  readonly jobs: JobClient;
  readonly types: TriggerTypes;
  readonly reader: ClusterReader;
  readonly authenticationsOf: (object: ScaledJob) => readonly unknown[];
  readonly events: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
}

/** What is remembered of an object; all of it may be lost. */
export interface JobMemory {
  plan: PlannedObject | undefined;
  authentications: readonly unknown[];
  /** How often each metric was asked when Jobs were made last: one response makes Jobs once. */
  asked: ReadonlyMap<string, number>;
  readonly onAsked: () => void;
  failures: string;
}

const DEFAULT_POLLING_S = 30;
const LOOK_AGAIN_MS = 15_000;
const REREAD_MS = 300_000;
const VALID_INTERVALS = 3;

/** Makes Jobs of what triggers tell. A new one for each term as leader. */
export function scaledJobController(dependencies: ScaledJobDependencies): Controller {
  const { objects, others, collection, client, clock, statuses } = dependencies;
  const memories = new Map<string, JobMemory>();
  const asked = new KeySignal();
  const memoryOf = (key: string) => {
    const known = memories.get(key);
    if (known) return known;
    const onAsked = () => asked.tell(key);
    const fresh = { plan: undefined, authentications: [], asked: new Map(), onAsked, failures: '' };
    memories.set(key, fresh);
    return fresh;
  };
  const stop = (key: string) => {
    collection.replace(key, new Map());
    memories.delete(key);
  };
  return {
    name: 'scaledjob',
    watches: [objects, ...others, asked],
    async reconcile(key, signal): Promise<ReconcileResult> {
      const found = objects.find(key);
      if (!found) {
        stop(key); // its Jobs go with it
        return DONE;
      }
      const own = eventsOf(found, 'ScaledJob', dependencies.events);
      if (found.metadata.deletionTimestamp) {
        stop(key);
        if (!found.metadata.finalizers?.includes(FINALIZER)) return DONE;
        await removeFinalizer(found, FINALIZER, { client, clock, signal });
        own.warning('ScaledJobDeleted', 'ScaledJob was deleted');
        return DONE;
      }
      const object = await addFinalizer(found, FINALIZER, { client, clock, signal });
      if (!object) return DONE;
      const write = (status: ScaledJobStatus) => statuses.write(object, status, signal);
      const { status: before } = object;
      const isPaused = requestsOf(object).isPaused;
      tellPaused(object, isPaused, own);
      if (isPaused) {
        stop(key);
        const { paused, readyPaused, activePaused } = JOB_CONDITIONS;
        const conditions = [paused, readyPaused, activePaused];
        const { triggersActivity: _, ...rest } = before ?? {};
        await write({
          ...rest,
          Paused: 'true',
          conditions: withJobConditions(before?.conditions, conditions),
        });
        return DONE;
      }
      try {
        checkScaledJob(object);
        const plan = await plannedFor(object, memoryOf(key), { ...dependencies, own, signal });
        collect(key, object, { plan, collection, memory: memoryOf(key) });
        const made = await makeJobs(object, {
          ...dependencies,
          key,
          plan,
          memory: memoryOf(key),
          own,
          signal,
        });
        await write(statusOf(object, plan, { ...made, nowMs: clock.nowMs() }));
        return { requeueAfterMs: REREAD_MS };
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof JobCheckFailure)) throw error;
        const isTold = before?.conditions?.some(({ message }) => message === error.message);
        const why =
          error.cause === undefined ? error.message : `${error.message}: ${describeError(error.cause)}`;
        if (!isTold) own.warning('ScaledJobCheckFailed', why);
        await write({
          ...before,
          conditions: withJobConditions(before?.conditions, jobCheckFailed(error.message)),
        });
        return { requeueAfterMs: LOOK_AGAIN_MS };
      }
    },
  };
}

/** A check that a ScaledJob does not pass. */
class JobCheckFailure extends Error {}

function checkScaledJob({ spec }: ScaledJob): void {
  if (!spec.jobTargetRef) throw new JobCheckFailure('ScaledJob.spec.jobTargetRef not found');
  const step = "ScaledJob doesn't have correct triggers specification";
  const names = spec.triggers.flatMap(({ name }) => name ?? []);
  if (new Set(names).size < names.length)
    throw new JobCheckFailure(step, {
      cause: new Error('a triggerName is defined multiple times, but it must be unique'),
    });
  if (spec.triggers.some(({ metricType }) => metricType !== undefined))
    throw new JobCheckFailure('Cannot set metricType in ScaledJob triggers');
}

type PlanOptions = ScaledJobDependencies & { readonly own: ObjectEvents; readonly signal: AbortSignal };

/** What is asked for an object; worked out again when it, or what it refers to, changes, and its old Jobs go then. */
async function plannedFor(
  object: ScaledJob,
  memory: JobMemory,
  options: PlanOptions,
): Promise<PlannedObject> {
  const { clock, types, reader, jobs, own, signal, authenticationsOf } = options;
  const { metadata, spec } = object;
  const authentications = authenticationsOf(object);
  const ageMs = clock.monotonicMs() - (memory.plan?.plannedAtMs ?? 0);
  const isSame = memory.plan?.uid === metadata.uid && memory.plan?.generation === metadata.generation;
  const isCurrent = isDeepStrictEqual(authentications, memory.authentications);
  if (memory.plan && isSame && isCurrent && (ageMs < REREAD_MS || authentications.length === 0))
    return memory.plan;
  const failed = (cause: unknown) =>
    new JobCheckFailure('Failed to ensure ScaledJob is correctly created', { cause });
  const namespace = metadata.namespace ?? '';
  const environment = (containerName = spec.envSourceContainerName ?? '') =>
    containerEnvironment({ spec: spec.jobTargetRef }, containerName, reader.environmentOf(namespace, signal));
  const triggers = await planTriggers(spec.triggers, {
    ...{ objectKind: 'ScaledJob', objectName: metadata.name, namespace, hasFormula: false },
    ...{ types, reader, environment, signal },
  });
  const broken = triggers.find(({ error }) => error)?.error;
  if (broken) throw failed(broken);
  await jobs.create(object, { signal, dryRun: true }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw failed(cause);
  });
  if (!isSame) await rollOut(object, options);
  if (!isSame) own.normal('KEDAScalersStarted', 'Started scalers watch');
  memory.authentications = authentications;
  memory.plan = {
    uid: metadata.uid,
    generation: metadata.generation,
    triggers,
    plannedAtMs: clock.monotonicMs(),
  };
  return memory.plan;
}

/** Deletes the Jobs of earlier generations, unless they are to end by themselves. */
async function rollOut(object: ScaledJob, { jobs, own, signal }: PlanOptions): Promise<void> {
  const { rolloutStrategy, rollout } = object.spec;
  if ((rolloutStrategy || rollout?.strategy) === 'gradual') return;
  const generation = `${object.metadata.generation}`;
  const all = await jobs.list(object, signal);
  const old = all.filter(({ metadata }) => metadata.annotations?.[GENERATION_ANNOTATION] !== generation);
  if (old.length === 0) return;
  const which = `${old.length} jobs owned by the previous version of the scaledJob`;
  own.normal('ScaledJobRolloutCleanupStarted', `Deleting ${which}`);
  for (const job of old) {
    try {
      await jobs.delete(
        job,
        rollout?.propagationPolicy === 'foreground' ? 'Foreground' : 'Background',
        signal,
      );
    } catch (error) {
      own.warning(
        'ScaledJobRolloutCleanupFailed',
        `Failed to delete job ${job.metadata.name}: ${describeError(error)}`,
      );
      throw error;
    }
  }
  own.normal('ScaledJobRolloutCleanupCompleted', `Deleted ${which}`);
}

function collect(
  key: string,
  { spec }: ScaledJob,
  { plan, collection, memory }: { plan: PlannedObject; collection: Collection; memory: JobMemory },
): void {
  const intervalMs = (spec.pollingInterval ?? DEFAULT_POLLING_S) * 1000;
  const wish = {
    intervalMs,
    validForMs: VALID_INTERVALS * intervalMs,
    isSteady: true,
    onAsked: memory.onAsked,
  };
  const collectors = plannedMetrics(plan).map(({ metricName, query }): [string, Collector] => [
    metricName,
    { query, ...wish },
  ]);
  collection.replace(key, new Map(collectors));
}

function tellPaused({ status }: ScaledJob, isPaused: boolean, own: ObjectEvents): void {
  const wasPaused =
    status?.conditions?.some(({ type, status: is }) => type === 'Paused' && is === 'True') ?? false;
  if (isPaused && !wasPaused) own.normal('ScaledJobPaused', 'ScaledJob is paused');
  if (!isPaused && wasPaused) own.normal('ScaledJobUnpaused', 'ScaledJob is unpaused');
}

interface Made {
  readonly isActive: boolean | undefined;
  readonly ready: 'ready' | 'partialError' | 'triggerError';
  readonly triggersActivity: Readonly<Record<string, { readonly isActive: boolean }>>;
  readonly nowMs: number;
}

const ACTIVE_WRITE_MS = 60_000;

function statusOf(
  object: ScaledJob,
  plan: PlannedObject,
  { isActive, ready, triggersActivity, nowMs }: Made,
): ScaledJobStatus {
  const { spec, status: before } = object;
  const authentications = spec.triggers.flatMap(({ authenticationRef }) => authenticationRef?.name ?? []);
  const written = before?.lastActiveTime;
  const isDue = isActive === true && (!written || nowMs - Date.parse(written) >= ACTIVE_WRITE_MS);
  const wasPaused = before?.conditions?.some(({ type, reason }) => type === 'Paused' && reason !== undefined);
  return {
    ...before,
    ...(isDue && { lastActiveTime: formatTime(nowMs) }),
    Paused: 'false',
    externalMetricNames: plannedMetrics(plan).map(({ metricName }) => metricName),
    triggersTypes: [...new Set(spec.triggers.map(({ type }) => type))].join(','),
    authenticationsTypes: [...new Set(authentications)].join(','),
    triggersActivity,
    conditions: withJobConditions(before?.conditions, [
      JOB_CONDITIONS[ready],
      ...(isActive === undefined ? [] : [isActive ? JOB_CONDITIONS.active : JOB_CONDITIONS.notActive]),
      ...(wasPaused ? [JOB_CONDITIONS.unpaused] : []),
    ]),
  };
}
