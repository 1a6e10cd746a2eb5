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

/** What cannot be used as it is may be mended anywhere; it is looked at again this often. */
const RETRY_MS = 15_000;

/** Makes the HPAs of ScaledObjects, and scales their targets to zero and from there. */
export function scaledObjectController(dependencies: ScaledObjectDependencies): Controller {
  const { objects, related, plans, states, statuses, clock, kedaDetector } = dependencies;
  return {
    name: 'scaledobject',
    watches: [objects, plans.changed, ...related],
    async reconcile(key, signal) {
      const found = states.latest(key, objects.find(key));
      if (!found) {
        states.delete(key); // its HPA went with it
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
        if (!ensured) return DONE; // its triggers are being prepared, which reconciles it again
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
          what: 'look again whether the object can be used',
          atMs: clock.nowMs() + RETRY_MS,
        };
        return await refuse(object, error, { own, write });
      }
    },
  };
}

/** Marks an object as ours: nobody deletes it before its target is restored, and metrics are selected by its label. */
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

/** Tells why an object cannot be used as it is; what is no reason of the object's comes back as a failure. */
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

/** Leaves the target as an object that is deleted says, and lets the object go. Its HPA goes with it. */
export async function finalize(object: ScaledObject, options: ReconcileOptions): Promise<void> {
  const { client, clock, own, states, signal } = options;
  if (!object.metadata.finalizers?.includes(FINALIZER)) return;
  const key = keyOf(object.metadata);
  const state = states.of(key);
  if (state.isReleased) return;
  if (state.startedGeneration !== undefined) recordStopped(own);
  state.startedGeneration = undefined; // it is told once, however often the rest is tried
  await restore(object, options);
  const released = await removeFinalizer(object, FINALIZER, { client, clock, signal });
  state.isReleased = true;
  if (!released) return;
  states.record(key, released);
  own.warning('ScaledObjectDeleted', 'ScaledObject was deleted');
}

/** What cannot be restored keeps nobody from deleting. */
async function restore(
  object: ScaledObject,
  { prepared, scales, logger, signal }: ReconcileOptions,
): Promise<void> {
  const { originalReplicaCount: original, scaleTargetGVKR } = object.status ?? {};
  if (!object.spec.advanced?.restoreToOriginalReplicaCount || original === undefined || !scaleTargetGVKR)
    return;
  try {
    const scale = await scales.get(prepared.target.ref, signal);
    const why = 'the ScaledObject is deleted and restores the original replicas';
    const cause = { by: `scaledobject ${object.metadata.name}`, why };
    if (scale.specReplicas !== original) await scales.set(scale, original, cause, signal);
  } catch (error) {
    signal.throwIfAborted();
    const { namespace, name } = object.metadata;
    logger.error('Cannot restore the replicas of a target', error, { scaledObject: `${namespace}/${name}` });
  }
}
