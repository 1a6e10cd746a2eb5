import { deleteObject } from '../objects/deletion.ts';
import type { StoreEvent } from '../objects/object-store.ts';
import {
  type ControllerContext,
  type ObjectKey,
  type OwnerReference,
  ownersOf,
} from './controller-context.ts';

/**
 * Deletes objects whose last owner is removed, or whose namespace is: always in the background, whatever propagation
 * the deletion requests.
 */
export class GarbageCollector {
  readonly #context: ControllerContext;

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  observe({ type, resource, object }: StoreEvent): void {
    const { uid, namespace, name } = object.metadata;
    // In microtasks: other watchers must receive the change before its consequences.
    if (type === 'DELETED') {
      if (resource === 'namespaces') queueMicrotask(() => this.#empty(name));
      if (this.#context.dependents.of(uid).length > 0) queueMicrotask(() => this.#collect(uid));
    } else if (type === 'ADDED' && ownersOf(object).length > 0)
      queueMicrotask(() => this.#deleteIfOrphaned({ storage: resource, namespace, name }));
  }

  #empty(namespace: string): void {
    const { store, clock, registry } = this.#context;
    for (const { storage } of registry.stored())
      for (const object of store.list(storage).items)
        if (object.metadata.namespace === namespace) deleteObject(object, { store, clock, storage });
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

  #isThere({ apiVersion, kind, name, uid }: OwnerReference, namespace: string | undefined): boolean {
    const type = this.#context.registry.ofApiVersion(apiVersion, kind);
    if (!type) return false;
    const owner = this.#context.store.get(type.storage, type.isNamespaced ? namespace : undefined, name);
    return owner?.metadata.uid === uid;
  }
}
