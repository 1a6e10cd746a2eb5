import { type Controller, DONE, type ReconcileResult } from '#lib/control/controller.ts';
import { addFinalizer, removeFinalizer } from '#lib/control/finalizers.ts';
import { setConditions } from '../api/conditions.ts';
import { eventsOf, type ObjectEvents, recordUnwritten } from '../api/object-events.ts';
import { FINALIZER } from '../api/resources.ts';
import type { ScaledJobStatus } from '../api/scaled-job.ts';
import { recordStopped } from '../metrics/scaler-events.ts';
import { REREAD_MS } from '../preparation/prepared-objects.ts';
import { createJobs } from './create-jobs.ts';
import type { ScaledJobDependencies } from './job-context.ts';
import { checkScaledJob, collect, JobCheckFailure, prepareScaledJob } from './prepare-scaled-job.ts';
import { jobCheckFailed, pausedStatus, recordChanges, recordPaused, statusOf } from './scaled-job-status.ts';

const RETRY_MS = 15_000;

/** Creates Jobs by the values of triggers. A new controller for each term as leader. */
export function scaledJobController(dependencies: ScaledJobDependencies): Controller {
  const {
    objects,
    related,
    prepared,
    polled,
    states,
    collection,
    pushes,
    client,
    clock,
    statuses,
    kedaDetector,
  } = dependencies;
  const stopPolling = (key: string) => {
    collection.replace(key, new Map());
    pushes.replace(key, [], {});
  };
  const stop = (key: string, own?: ObjectEvents) => {
    stopPolling(key);
    if (own && states.isStarted(key)) recordStopped(own);
    prepared.delete(key);
    states.delete(key);
  };
  return {
    name: 'scaledjob',
    watches: [objects, ...related, polled],
    async reconcile(key, signal): Promise<ReconcileResult> {
      const found = objects.find(key);
      if (!found) {
        stop(key); // the garbage collector deletes its Jobs
        return DONE;
      }
      if (kedaDetector.isManagedByKeda('ScaledJob', found)) {
        stop(key);
        return { requeueAfterMs: RETRY_MS };
      }
      const own = eventsOf(found, 'ScaledJob', dependencies.events);
      if (found.metadata.deletionTimestamp) {
        stop(key, own);
        if (!found.metadata.finalizers?.includes(FINALIZER)) return DONE;
        const deleted = await removeFinalizer(found, FINALIZER, { client, clock, signal });
        if (deleted) own.warning('ScaledJobDeleted', 'ScaledJob was deleted');
        return DONE;
      }
      const isOmitted = found.omitted !== undefined;
      const object = isOmitted ? found : await addFinalizer(found, FINALIZER, { client, clock, signal });
      if (!object) return DONE;
      const write = async (status: ScaledJobStatus) => {
        try {
          await statuses.write(object, status, signal);
        } catch (error) {
          recordUnwritten('ScaledJobUpdateFailed', error, { own, signal });
          throw error;
        }
      };
      const compiled = prepared.get(object);
      const { isPaused } = compiled.annotations;
      recordPaused(object, isPaused, own);
      if (isPaused) {
        stop(key, own);
        await write(pausedStatus(object));
        return DONE;
      }
      const jobState = states.of(key);
      try {
        checkScaledJob(object);
        const options = { ...dependencies, own, signal };
        const plan = await prepareScaledJob(object, jobState, options);
        collect(key, compiled, { plan, collection, pushes, jobState });
        const made = await createJobs(object, { ...options, key, prepared: compiled, plan, jobState });
        const status = statusOf(object, { ...made, prepared: compiled, plan, nowMs: clock.nowMs() });
        recordChanges(object, status, own);
        await write(status);
        jobState.refusal = undefined;
        return { requeueAfterMs: REREAD_MS };
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof JobCheckFailure)) throw error;
        stopPolling(key); // no Jobs are created by them
        if (jobState.refusal !== error.full) own.warning('ScaledJobCheckFailed', error.full);
        jobState.refusal = error.full;
        const conditions = setConditions(
          'ScaledJob',
          object.status?.conditions,
          jobCheckFailed(error.message),
        );
        await write({ ...object.status, conditions });
        return { requeueAfterMs: RETRY_MS };
      }
    },
  };
}
