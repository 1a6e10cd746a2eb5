import { deleteObject, FOREGROUND_FINALIZER, updateOrRemove } from '../objects/deletion.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import type { StoreEvent } from '../objects/object-store.ts';
import {
  type ControllerContext,
  type ObjectKey,
  type OwnerReference,
  ownersOf,
} from './controller-context.ts';

/**
 * Deletes objects whose last owner is removed. An owner that is deleted in the foreground waits for its dependents.
 */
export class GarbageCollector {
  readonly #context: ControllerContext;

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  observe({ type, resource, object, previous }: StoreEvent): void {
    const { uid, namespace, name, finalizers = [], deletionTimestamp } = object.metadata;
    // In microtasks: other watchers must receive the change before its consequences.
    if (type === 'DELETED') {
      if (this.#context.dependents.of(uid).length > 0) queueMicrotask(() => this.#collect(uid));
      for (const owner of ownersOf(previous ?? object))
        queueMicrotask(() => this.#finishForeground(owner, namespace));
      return;
    }
    if (type === 'ADDED' && ownersOf(object).length > 0)
      queueMicrotask(() => this.#deleteIfOrphaned({ storage: resource, namespace, name }));
    if (deletionTimestamp === undefined || finalizers.length === 0) return;
    if (finalizers.includes(FOREGROUND_FINALIZER))
      queueMicrotask(() => this.#deleteForeground({ storage: resource, namespace, name }));
  }

  #collect(ownerUid: string): void {
    for (const key of this.#context.dependents.of(ownerUid)) this.#deleteIfOrphaned(key);
  }

  /** Deletes an object without existing owners; else removes its references to owners that do not exist. */
  #deleteIfOrphaned({ storage, namespace, name }: ObjectKey): void {
    const { store, clock } = this.#context;
    const object = store.get(storage, namespace, name);
    if (!object || object.metadata.deletionTimestamp !== undefined) return;
    const owners = ownersOf(object);
    const alive = owners.filter((owner) => this.#isThere(owner, namespace));
    if (owners.length === 0 || alive.length === owners.length) return;
    if (alive.length === 0) deleteObject(object, { store, clock, storage });
    else store.update(storage, { ...object, metadata: { ...object.metadata, ownerReferences: alive } });
  }

  #isThere(owner: OwnerReference, namespace: string | undefined): boolean {
    return this.#find(owner, namespace)?.object.metadata.uid === owner.uid;
  }

  #find({ apiVersion, kind, name }: OwnerReference, namespace: string | undefined) {
    const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : [''];
    const type = this.#context.registry.ofKind(group, kind);
    const object =
      type && this.#context.store.get(type.storage, type.isNamespaced ? namespace : undefined, name);
    return object && { object, storage: type.storage };
  }

  #deleteForeground({ storage, namespace, name }: ObjectKey): void {
    const { store, clock, dependents } = this.#context;
    const owner = store.get(storage, namespace, name);
    if (!owner?.metadata.finalizers?.includes(FOREGROUND_FINALIZER)) return;
    const { uid } = owner.metadata;
    for (const { storage: at, object } of dependents.of(uid)) {
      const hasOthers = ownersOf(object).some((one) => one.uid !== uid && this.#isThere(one, namespace));
      if (!hasOthers && object.metadata.deletionTimestamp === undefined)
        deleteObject(object, { store, clock, storage: at, propagation: 'Foreground' });
    }
    const isBlocked = dependents
      .of(uid)
      .some(({ object }) => ownersOf(object).some((one) => one.uid === uid && one.blockOwnerDeletion));
    if (!isBlocked) this.#removeFinalizer(owner, storage);
  }

  #finishForeground(owner: OwnerReference, namespace: string | undefined): void {
    const found = this.#find(owner, namespace);
    if (
      found?.object.metadata.finalizers?.includes(FOREGROUND_FINALIZER) &&
      found.object.metadata.deletionTimestamp !== undefined
    )
      this.#deleteForeground({
        storage: found.storage,
        namespace: found.object.metadata.namespace,
        name: owner.name,
      });
  }

  #removeFinalizer(owner: KubernetesObject, storage: string): void {
    const finalizers = (owner.metadata.finalizers ?? []).filter((one) => one !== FOREGROUND_FINALIZER);
    updateOrRemove(
      { ...owner, metadata: { ...owner.metadata, finalizers } },
      { store: this.#context.store, storage },
    );
  }
}

/** Deletes the objects in a namespace that is being deleted, and removes the namespace after the last of them. */
export function syncNamespace(
  namespace: KubernetesObject,
  { store, clock, registry }: ControllerContext,
): void {
  const { name, deletionTimestamp } = namespace.metadata;
  if (deletionTimestamp === undefined) return;
  let remaining = 0;
  for (const { storage, isNamespaced } of registry.stored()) {
    if (!isNamespaced) continue;
    for (const object of store.list(storage).items) {
      if (object.metadata.namespace !== name) continue;
      const isRemoved =
        object.metadata.deletionTimestamp === undefined &&
        deleteObject(object, { store, clock, storage }).isRemoved;
      if (!isRemoved) remaining++;
    }
  }
  if (remaining > 0) return;
  const spec = { ...(namespace.spec as object | undefined), finalizers: [] };
  updateOrRemove({ ...namespace, spec }, { store, storage: 'namespaces' });
}
