import type { Clock } from '#lib/time/clock.ts';
import { formatTimestamp, type KubernetesObject, type NewObject } from './kubernetes-object.ts';
import type { ObjectStore } from './object-store.ts';

/** How dependents of an object are deleted. */
export type PropagationPolicy = 'Background' | 'Foreground';

/** The finalizer of an owner whose dependents the garbage collector deletes first. */
export const FOREGROUND_FINALIZER = 'foregroundDeletion';

interface DeletionOptions {
  readonly store: ObjectStore;
  readonly clock: Clock;
  /** The storage of the object. */
  readonly storage: string;
  readonly propagation?: PropagationPolicy;
}

/** A deleted object: marked if it has finalizers, else removed. */
interface Deletion {
  readonly object: KubernetesObject;
  readonly isRemoved: boolean;
}

/** Removes an object, or marks it for deletion while it has finalizers. */
export function deleteObject(object: KubernetesObject, options: DeletionOptions): Deletion {
  const { store, storage } = options;
  const { namespace, name } = object.metadata;
  const marked = markForDeletion(object, options);
  if (marked === undefined) return { object: store.delete(storage, namespace, name), isRemoved: true };
  return { object: marked === object ? object : store.update(storage, marked), isRemoved: false };
}

/** The object marked for deletion; `undefined` when it has no finalizers. */
export function markForDeletion(
  object: KubernetesObject,
  { clock, propagation = 'Background' }: Pick<DeletionOptions, 'clock' | 'propagation'>,
): KubernetesObject | undefined {
  const { metadata } = object;
  const others = (metadata.finalizers ?? []).filter((one) => one !== FOREGROUND_FINALIZER);
  const own = propagation === 'Foreground' ? [FOREGROUND_FINALIZER] : [];
  // The first deletion decides the propagation.
  const finalizers =
    metadata.deletionTimestamp === undefined ? [...others, ...own] : (metadata.finalizers ?? []);
  if (finalizers.length === 0 && !hasOwnFinalizers(object)) return undefined;
  if (metadata.deletionTimestamp !== undefined) return object;
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(metadata.generation === undefined ? {} : { generation: metadata.generation + 1 }),
      deletionTimestamp: formatTimestamp(clock.nowMs()),
      deletionGracePeriodSeconds: 0,
      ...(finalizers.length === 0 ? {} : { finalizers }),
    },
    ...(object.kind === 'Namespace' && object.apiVersion === 'v1'
      ? { status: { phase: 'Terminating' } }
      : {}),
  };
}

/** Updates an object, and removes it when it is marked for deletion and has no finalizers left. */
export function updateOrRemove(
  next: NewObject,
  { store, storage }: Pick<DeletionOptions, 'store' | 'storage'>,
): Deletion {
  const { metadata } = next;
  const isWaiting = metadata.deletionTimestamp !== undefined;
  const isFinished = isWaiting && (metadata.finalizers ?? []).length === 0 && !hasOwnFinalizers(next);
  const object = store.update(storage, next);
  if (!isFinished) return { object, isRemoved: false };
  return { object: store.delete(storage, metadata.namespace, metadata.name), isRemoved: true };
}

/** A namespace has finalizers in its spec, too. */
function hasOwnFinalizers({ kind, apiVersion, spec }: NewObject): boolean {
  if (kind !== 'Namespace' || apiVersion !== 'v1') return false;
  const { finalizers = [] } = (spec ?? {}) as { readonly finalizers?: readonly string[] };
  return finalizers.length > 0;
}
