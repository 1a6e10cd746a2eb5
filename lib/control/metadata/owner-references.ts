import type { KubernetesObject, OwnerReference } from '#lib/kubernetes/kubernetes-object.ts';

/** An owner: an object that knows its version, kind and UID. */
export interface Owner extends KubernetesObject {
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

/** Whether an object is controlled by this very owner, not by one that had its name before. */
export function isControlledBy(object: KubernetesObject, owner: KubernetesObject): boolean {
  const reference = controllerOf(object);
  return reference !== undefined && reference.uid === owner.metadata.uid;
}

/**
 * An object's references with one to an owner, all others as they were.
 *
 * @returns the same array where it is there already
 * @throws when the owner is to control what another controls
 */
export function withOwner(
  references: readonly OwnerReference[],
  owner: OwnerReference,
): readonly OwnerReference[] {
  const rival = references.find(({ controller, uid }) => controller === true && uid !== owner.uid);
  if (owner.controller && rival) {
    throw new Error(`Cannot control what ${rival.kind} ${rival.name} controls`);
  }
  const before = references.find(({ uid }) => uid === owner.uid);
  if (!before) return [...references, owner];
  const keys = ['apiVersion', 'kind', 'name', 'controller', 'blockOwnerDeletion'] as const;
  if (keys.every((key) => before[key] === owner[key])) return references;
  return references.map((one) => (one === before ? owner : one));
}

/** An object's references without those to an owner; the same array where there are none. */
export function withoutOwner(
  references: readonly OwnerReference[],
  ownerUid: string,
): readonly OwnerReference[] {
  return references.some(({ uid }) => uid === ownerUid)
    ? references.filter(({ uid }) => uid !== ownerUid)
    : references;
}
