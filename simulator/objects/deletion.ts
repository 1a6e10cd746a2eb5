import type { Clock } from '#lib/time/clock.ts';
import { formatTimestamp, type KubernetesObject, type NewObject } from './kubernetes-object.ts';
import type { ObjectStore } from './object-store.ts';

/** What becomes of an object's dependents when it is deleted. */
export type PropagationPolicy = 'Background' | 'Foreground';

/** The finalizer of an owner whose dependents the garbage collector deletes first. */
export const FOREGROUND_FINALIZER = 'foregroundDeletion';

/** What a deletion needs beside the object. */
export interface DeletionOptions {
  readonly store: ObjectStore;
  readonly clock: Clock;
  /** Where the object is in the store. */
  readonly storage: string;
  readonly propagation?: PropagationPolicy;
}

/** An object after it was asked to go: marked, if it has finalizers, else gone. */
export interface Deletion {
  readonly object: KubernetesObject;
  readonly isGone: boolean;
}

/** Deletes an object, or marks it as to be deleted while it has finalizers. */
export function deleteObject(object: KubernetesObject, options: DeletionOptions): Deletion {
  const { store, storage } = options;
  const { namespace, name } = object.metadata;
  const marked = markedForDeletion(object, options);
  if (marked === undefined) return { object: store.delete(storage, namespace, name), isGone: true };
  return { object: marked === object ? object : store.update(storage, marked), isGone: false };
}

/** The object as it waits for its finalizers; `undefined` where it need not wait. */
export function markedForDeletion(
  object: KubernetesObject,
  { clock, propagation = 'Background' }: Pick<DeletionOptions, 'clock' | 'propagation'>,
): KubernetesObject | undefined {
  const { metadata } = object;
  const others = (metadata.finalizers ?? []).filter((one) => one !== FOREGROUND_FINALIZER);
  const own = propagation === 'Foreground' ? [FOREGROUND_FINALIZER] : [];
  // Who has begun to go keeps to what was asked first.
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

/** Stores a new state; one that was waiting for its finalizers and has none left goes. */
export function updateOrFinish(
  next: NewObject,
  { store, storage }: Pick<DeletionOptions, 'store' | 'storage'>,
): Deletion {
  const { metadata } = next;
  const isWaiting = metadata.deletionTimestamp !== undefined;
  const isFinished = isWaiting && (metadata.finalizers ?? []).length === 0 && !hasOwnFinalizers(next);
  const object = store.update(storage, next);
  if (!isFinished) return { object, isGone: false };
  return { object: store.delete(storage, metadata.namespace, metadata.name), isGone: true };
}

/** A namespace waits for what it holds by a finalizer of its own. */
function hasOwnFinalizers({ kind, apiVersion, spec }: NewObject): boolean {
  if (kind !== 'Namespace' || apiVersion !== 'v1') return false;
  const { finalizers = [] } = (spec ?? {}) as { readonly finalizers?: readonly string[] };
  return finalizers.length > 0;
}
