import { z } from 'zod';
import type { Clock } from '#lib/time/clock.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { keyOf, type ObjectStore, type StoreEvent } from '../objects/object-store.ts';
import type { ResourceRegistry } from '../resources/resource-type.ts';

export interface ControllerContext {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly registry: ResourceRegistry;
  readonly dependents: Dependents;
}

const ownerReferences = z.array(
  z.looseObject({
    apiVersion: z.string(),
    kind: z.string(),
    name: z.string(),
    uid: z.string(),
    controller: z.boolean().optional(),
    blockOwnerDeletion: z.boolean().optional(),
  }),
);

/** An entry of `metadata.ownerReferences`. */
export type OwnerReference = z.output<typeof ownerReferences>[number];

/** The key of an object in the store. */
export interface ObjectKey {
  readonly storage: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** The owners of an object; empty when its list of owners is invalid. */
export function ownersOf({ metadata }: KubernetesObject): readonly OwnerReference[] {
  if (metadata.ownerReferences === undefined || metadata.ownerReferences.length === 0) return [];
  return ownerReferences.safeParse(metadata.ownerReferences).data ?? [];
}

/** Indexes objects by their owners as the store changes. */
export class Dependents {
  readonly #store: ObjectStore;
  readonly #byOwner = new Map<string, Map<string, ObjectKey>>();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  observe({ type, resource, object, previous }: StoreEvent): void {
    const owners = type === 'DELETED' ? [] : ownersOf(object);
    for (const { uid } of previous ? ownersOf(previous) : []) {
      if (owners.some((owner) => owner.uid === uid)) continue;
      const keys = this.#byOwner.get(uid);
      keys?.delete(identity(resource, object));
      if (keys?.size === 0) this.#byOwner.delete(uid);
    }
    const { namespace, name } = object.metadata;
    for (const { uid } of owners) {
      const keys = this.#byOwner.get(uid) ?? new Map<string, ObjectKey>();
      keys.set(identity(resource, object), { storage: resource, namespace, name });
      this.#byOwner.set(uid, keys);
    }
  }

  /** All dependents of an owner, in the order in which they became dependents. */
  of(ownerUid: string): readonly (ObjectKey & { readonly object: KubernetesObject })[] {
    return [...(this.#byOwner.get(ownerUid)?.values() ?? [])].flatMap((key) => {
      const object = this.#store.get(key.storage, key.namespace, key.name);
      return object ? [{ ...key, object }] : [];
    });
  }

  /** The objects of one resource that an owner controls. */
  controlledBy(ownerUid: string, storage: string): readonly KubernetesObject[] {
    return this.of(ownerUid)
      .filter((key) => key.storage === storage)
      .map(({ object }) => object)
      .filter((object) =>
        ownersOf(object).some(({ uid, controller }) => uid === ownerUid && controller === true),
      );
  }
}

function identity(storage: string, { metadata }: KubernetesObject): string {
  return `${storage}${keyOf(metadata.namespace, metadata.name)}`;
}
