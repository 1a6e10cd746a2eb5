import { type Controller, DONE, type ReconcileResult } from '#lib/control/controller.ts';
import { addFinalizer, removeFinalizer } from '#lib/control/finalizers.ts';
import { keyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { conditionStatus, setConditions } from '../api/conditions.ts';
import { eventsOf, type ObjectEvents, recordUnwritten } from '../api/object-events.ts';
import { FIELD_MANAGER, FINALIZER, NAME_LABEL } from '../api/resources.ts';
import type { ScaledObject, ScaledObjectStatus } from '../api/scaled-object.ts';
import { recordStopped } from '../metrics/scaler-events.ts';
import { CheckFailure, STEPS } from '../validation/check-failure.ts';
import { ensureHpa } from './ensure-hpa.ts';
import { pause } from './pause-scaled-object.ts';
import type { ReconcileOptions, ScaledObjectDependencies } from './reconcile-context.ts';
import { reconcileScaling } from './reconcile-scaling.ts';
import { UnreadableReplicas } from './scale-target.ts';
import { CONDITIONS, checkFailed, replicasUnreadable } from './scaled-object-status.ts';

/** Interval for checking an invalid object again: the cause may be fixed in objects that are not watched. */
const RETRY_MS = 15_000;

/** Applies the HPAs of ScaledObjects, and scales their targets to and from 0 or idle replicas. */
export function scaledObjectController(dependencies: ScaledObjectDependencies): Controller {
  const { objects, related, plans, states, statuses, clock, kedaDetector } = dependencies;
  return {
    name: 'scaledobject',
    watches: [objects, plans.changed, ...related],
    async reconcile(key, signal) {
      const found = states.latest(key, objects.find(key));
      if (!found) {
        states.delete(key); // the garbage collector deletes its HPA
        return DONE;
      }
      if (kedaDetector.isManagedByKeda('ScaledObject', found)) {
        states.delete(key);
        return { requeueAfterMs: RETRY_MS };
      }
      const own = eventsOf(found, 'ScaledObject', dependencies.events);
      const common = { ...dependencies, own, signal };
      if (found.metadata.deletionTimestamp) {
        await finalize(found, { ...common, prepared: plans.prepared(found) });
        return DONE;
      }
      const isOmitted = found.omitted !== undefined;
      const object = isOmitted ? found : await claim(found, common);
      if (!object) return DONE;
      const state = states.of(key);
      const options = { ...common, prepared: plans.prepared(object) };
      const { annotations, pollingMs } = options.prepared;
      const write = async (status: ScaledObjectStatus) => {
        try {
          const latest = await statuses.write(object, status, signal);
          if (!isOmitted) states.record(key, latest);
          return latest;
        } catch (error) {
          recordUnwritten('ScaledObjectUpdateFailed', error, { own, signal });
          throw error;
        }
      };
      try {
        if (object.omitted !== undefined) throw new CheckFailure(STEPS.size, object.omitted);
        if (annotations.isPaused) {
          await write(await pause(object, { ...options, write }));
          return DONE;
        }
        const ensured = await ensureHpa(object, { ...options, key });
        if (!ensured) return DONE; // reconciled again once its triggers are prepared
        const { status, againAtMs } = await reconcileScaling(object, { ...options, ...ensured, key });
        recordReady(object, status, own);
        await write(status);
        const pollingAtMs = clock.nowMs() + pollingMs;
        return {
          requeueAfterMs: Math.max(0, Math.min(againAtMs ?? pollingAtMs, pollingAtMs) - clock.nowMs()),
        };
      } catch (error) {
        signal.throwIfAborted();
        state.next = {
          what: 'check the object again',
          atMs: clock.nowMs() + RETRY_MS,
        };
        return await refuse(object, error, { own, write });
      }
    },
  };
}

/** Adds the finalizer, which delays deletion until the target is restored, and the label that selects metrics. */
async function claim(
  object: ScaledObject,
  { client, clock, signal }: ScaledObjectDependencies & { readonly signal: AbortSignal },
): Promise<ScaledObject | undefined> {
  const { name, labels, namespace } = object.metadata;
  const finalized = await addFinalizer(object, FINALIZER, { client, clock, signal });
  if (!finalized || labels?.[NAME_LABEL] === name) return finalized;
  const body = { metadata: { labels: { [NAME_LABEL]: name } } };
  return await client.patch(
    { namespace, name },
    { type: 'merge', body },
    { fieldManager: FIELD_MANAGER, signal },
  );
}

/** Reports in a condition why an object cannot be used. @throws other errors, which are not faults of the object */
async function refuse(
  object: ScaledObject,
  error: unknown,
  { own, write }: { own: ObjectEvents; write: (status: ScaledObjectStatus) => Promise<ScaledObject> },
): Promise<ReconcileResult> {
  const before = object.status;
  if (error instanceof UnreadableReplicas) {
    const conditions = setConditions('ScaledObject', before?.conditions, [
      replicasUnreadable(describeError(error)),
    ]);
    await write({ ...before, conditions });
    return { requeueAfterMs: RETRY_MS };
  }
  if (!(error instanceof CheckFailure)) throw error;
  const failed = checkFailed(error.message);
  const isReported = before?.conditions?.some(({ message }) => message === error.message);
  if (!isReported) own.warning('ScaledObjectCheckFailed', error.message);
  await write({ ...before, conditions: setConditions('ScaledObject', before?.conditions, failed) });
  return { requeueAfterMs: RETRY_MS };
}

function recordReady(object: ScaledObject, status: ScaledObjectStatus, own: ObjectEvents): void {
  const before = conditionStatus(object.status?.conditions, 'Ready');
  if (before !== 'True' && conditionStatus(status.conditions, CONDITIONS.ready.type) === 'True')
    own.normal('ScaledObjectReady', 'ScaledObject is ready for scaling');
}

/** Restores the target of a deleted object and removes the finalizer. The garbage collector deletes the HPA. */
export async function finalize(object: ScaledObject, options: ReconcileOptions): Promise<void> {
  const { client, clock, own, states, signal } = options;
  if (!object.metadata.finalizers?.includes(FINALIZER)) return;
  const key = keyOf(object.metadata);
  const state = states.of(key);
  if (state.isReleased) return;
  if (state.startedGeneration !== undefined) recordStopped(own);
  state.startedGeneration = undefined; // reported once, even if the rest is retried
  await restore(object, options);
  const released = await removeFinalizer(object, FINALIZER, { client, clock, signal });
  state.isReleased = true;
  if (!released) return;
  states.record(key, released);
  own.warning('ScaledObjectDeleted', 'ScaledObject was deleted');
}

/** A failure is logged and does not prevent the deletion. */
async function restore(
  object: ScaledObject,
  { prepared, scales, logger, signal }: ReconcileOptions,
): Promise<void> {
  const { originalReplicaCount: original, scaleTargetGVKR } = object.status ?? {};
  if (!object.spec.advanced?.restoreToOriginalReplicaCount || original === undefined || !scaleTargetGVKR)
    return;
  try {
    const scale = await scales.get(prepared.target.ref, signal);
    const why = 'ScaledObject deleted; restoring the original replicas';
    const cause = { by: `scaledobject ${object.metadata.name}`, why };
    if (scale.specReplicas !== original) await scales.set(scale, original, cause, signal);
  } catch (error) {
    signal.throwIfAborted();
    const { namespace, name } = object.metadata;
    logger.error('Cannot restore the original replicas of target', error, {
      scaledObject: `${namespace}/${name}`,
    });
  }
}
