import type { Clock } from '#lib/time/clock.ts';
import { formatTimestamp, type KubernetesObject, type NewObject } from './kubernetes-object.ts';
import type { ObjectStore } from './object-store.ts';

interface DeletionOptions {
  readonly store: ObjectStore;
  readonly clock: Clock;
  /** The storage of the object. */
  readonly storage: string;
}

/** A deleted object: marked if it has finalizers, else removed. */
interface Deletion {
  readonly object: KubernetesObject;
  readonly isRemoved: boolean;
}

/** Removes an object, or marks it for deletion while it has finalizers. */
export function deleteObject(object: KubernetesObject, { store, clock, storage }: DeletionOptions): Deletion {
  const { namespace, name } = object.metadata;
  const marked = markForDeletion(object, clock);
  if (marked === undefined) return { object: store.delete(storage, namespace, name), isRemoved: true };
  return { object: marked === object ? object : store.update(storage, marked), isRemoved: false };
}

/** The object marked for deletion; `undefined` when it has no finalizers. */
export function markForDeletion(object: KubernetesObject, clock: Clock): KubernetesObject | undefined {
  const { metadata } = object;
  if ((metadata.finalizers ?? []).length === 0) return undefined;
  if (metadata.deletionTimestamp !== undefined) return object;
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(metadata.generation === undefined ? {} : { generation: metadata.generation + 1 }),
      deletionTimestamp: formatTimestamp(clock.nowMs()),
      deletionGracePeriodSeconds: 0,
    },
  };
}

/** Updates an object, and removes it when it is marked for deletion and has no finalizers left. */
export function updateOrRemove(
  next: NewObject,
  { store, storage }: Pick<DeletionOptions, 'store' | 'storage'>,
): Deletion {
  const { metadata } = next;
  const isFinished = metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
  const object = store.update(storage, next);
  if (!isFinished) return { object, isRemoved: false };
  return { object: store.delete(storage, metadata.namespace, metadata.name), isRemoved: true };
}
