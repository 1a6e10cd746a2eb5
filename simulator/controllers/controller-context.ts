import { z } from 'zod';
import type { Clock } from '#lib/time/clock.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { keyOf, type ObjectStore, type StoreEvent } from '../objects/object-store.ts';
import type { ResourceRegistry } from '../resources/resource-type.ts';

/** What the controllers read and write. */
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

/** An owner as its dependents name it. */
export type OwnerReference = z.output<typeof ownerReferences>[number];

/** Where an object is in the store. */
export interface Place {
  readonly storage: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** The owners of an object; what is no list of these is none. */
export function ownersOf({ metadata }: KubernetesObject): readonly OwnerReference[] {
  if (metadata.ownerReferences === undefined || metadata.ownerReferences.length === 0) return [];
  return ownerReferences.safeParse(metadata.ownerReferences).data ?? [];
}

/** Which objects name which owners: kept as the store changes, since nothing else can tell without reading everything. */
export class Dependents {
  readonly #store: ObjectStore;
  readonly #byOwner = new Map<string, Map<string, Place>>();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  follow({ type, resource, object, previous }: StoreEvent): void {
    const owners = type === 'DELETED' ? [] : ownersOf(object);
    for (const { uid } of previous ? ownersOf(previous) : []) {
      if (owners.some((owner) => owner.uid === uid)) continue;
      const places = this.#byOwner.get(uid);
      places?.delete(identity(resource, object));
      if (places?.size === 0) this.#byOwner.delete(uid);
    }
    const { namespace, name } = object.metadata;
    for (const { uid } of owners) {
      const places = this.#byOwner.get(uid) ?? new Map<string, Place>();
      places.set(identity(resource, object), { storage: resource, namespace, name });
      this.#byOwner.set(uid, places);
    }
  }

  /** Everything that names an owner, in the order in which it came to do so. */
  of(ownerUid: string): readonly (Place & { readonly object: KubernetesObject })[] {
    return [...(this.#byOwner.get(ownerUid)?.values() ?? [])].flatMap((place) => {
      const object = this.#store.get(place.storage, place.namespace, place.name);
      return object ? [{ ...place, object }] : [];
    });
  }

  /** The objects of one resource that an owner controls. */
  controlledBy(ownerUid: string, storage: string): readonly KubernetesObject[] {
    return this.of(ownerUid)
      .filter((place) => place.storage === storage)
      .map(({ object }) => object)
      .filter((object) =>
        ownersOf(object).some(({ uid, controller }) => uid === ownerUid && controller === true),
      );
  }
}

function identity(storage: string, { metadata }: KubernetesObject): string {
  return `${storage}${keyOf(metadata.namespace, metadata.name)}`;
}
