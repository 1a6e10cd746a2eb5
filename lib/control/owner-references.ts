import type { KubernetesObject, OwnerReference } from '#lib/kubernetes/objects/kubernetes-object.ts';

/** An owner: an object with its version, kind and UID. */
interface Owner extends KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * The owner reference of an object that a controller creates for another: the object is deleted with its owner, and the
 * controller can identify it.
 *
 * @throws when the owner has no UID, as one that was never stored
 */
export function controllerReference(owner: Owner): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  const { name, uid } = metadata;
  if (!uid) throw new Error(`Cannot refer to ${kind} ${name} as an owner: no UID`);
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** The reference to the owner that controls an object, of which there is at most one. */
export function controllerOf({ metadata }: KubernetesObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}
