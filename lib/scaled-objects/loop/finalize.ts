import { removeFinalizer } from '#lib/control/finalizers.ts';
import { FINALIZER } from '../objects/resources.ts';
import { type ScaledObject, targetOf } from '../objects/scaled-object.ts';
import { tellStopped } from '../plan/tell-started.ts';
import type { ReconcileOptions } from '../scaling/reconcile-context.ts';

/** Leaves the target as an object that is deleted says, and lets the object go. Its HPA goes with it. */
export async function finalize(object: ScaledObject, options: ReconcileOptions): Promise<void> {
  const { client, clock, own, memories, signal } = options;
  if (!object.metadata.finalizers?.includes(FINALIZER)) return;
  const memory = memories.of(`${object.metadata.namespace}/${object.metadata.name}`);
  if (memory.startedGeneration !== undefined) tellStopped(own);
  memory.startedGeneration = undefined; // it is told once, however often the rest is tried
  await restore(object, options);
  memory.latest = await removeFinalizer(object, FINALIZER, { client, clock, signal });
  if (memory.latest) own.warning('ScaledObjectDeleted', 'ScaledObject was deleted');
}

/** What cannot be restored keeps nobody from deleting. */
async function restore(object: ScaledObject, { scales, logger, signal }: ReconcileOptions): Promise<void> {
  const { originalReplicaCount: original, scaleTargetGVKR } = object.status ?? {};
  if (!object.spec.advanced?.restoreToOriginalReplicaCount || original === undefined || !scaleTargetGVKR)
    return;
  try {
    const scale = await scales.get(targetOf(object), signal);
    const why = 'the ScaledObject is deleted and restores the original replicas';
    const cause = { by: `scaledobject ${object.metadata.name}`, why };
    if (scale.specReplicas !== original) await scales.set(scale, original, cause, signal);
  } catch (error) {
    signal.throwIfAborted();
    const { namespace, name } = object.metadata;
    logger.error('Cannot restore the replicas of a target', error, { scaledObject: `${namespace}/${name}` });
  }
}
