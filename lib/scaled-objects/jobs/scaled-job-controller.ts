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

const LOOK_AGAIN_MS = 15_000;

/** Makes Jobs of what triggers tell. A new one for each term as leader. */
export function scaledJobController(dependencies: ScaledJobDependencies): Controller {
  const {
    objects,
    others,
    prepared,
    asked,
    memories,
    collection,
    pushes,
    client,
    clock,
    statuses,
    otherOperator,
  } = dependencies;
  const stopAsking = (key: string) => {
    collection.replace(key, new Map());
    pushes.replace(key, [], {});
  };
  const stop = (key: string, own?: ObjectEvents) => {
    stopAsking(key);
    if (own && memories.isStarted(key)) recordStopped(own);
    prepared.delete(key);
    memories.forget(key);
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
      if (otherOperator.leaves('ScaledJob', found)) {
        stop(key);
        return { requeueAfterMs: LOOK_AGAIN_MS };
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
      const memory = memories.of(key);
      try {
        checkScaledJob(object);
        const options = { ...dependencies, own, signal };
        const plan = await prepareScaledJob(object, memory, options);
        collect(key, compiled, { plan, collection, pushes, memory });
        const made = await createJobs(object, { ...options, key, prepared: compiled, plan, memory });
        const status = statusOf(object, { ...made, prepared: compiled, plan, nowMs: clock.nowMs() });
        recordChanges(object, status, own);
        await write(status);
        memory.refusal = undefined;
        return { requeueAfterMs: REREAD_MS };
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof JobCheckFailure)) throw error;
        stopAsking(key); // nothing is made of what they would tell
        if (memory.refusal !== error.full) own.warning('ScaledJobCheckFailed', error.full);
        memory.refusal = error.full;
        const conditions = setConditions(
          'ScaledJob',
          object.status?.conditions,
          jobCheckFailed(error.message),
        );
        await write({ ...object.status, conditions });
        return { requeueAfterMs: LOOK_AGAIN_MS };
      }
    },
  };
}
