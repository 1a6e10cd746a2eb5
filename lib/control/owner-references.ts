import type { KubernetesObject, OwnerReference } from '#lib/kubernetes/objects/kubernetes-object.ts';

/** An owner: an object that knows its version, kind and UID. */
interface Owner extends KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * What an object has that a controller makes for another: it goes with its owner, and the controller knows it again.
 *
 * @throws when the owner has no UID, as one that was never stored
 */
export function controllerReference(owner: Owner): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  const { name, uid } = metadata;
  if (!uid) throw new Error(`Cannot refer to ${kind} ${name} as an owner: it has no UID`);
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** The reference to the owner that controls an object, of which there is at most one. */
export function controllerOf({ metadata }: KubernetesObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}
