import { isDeepStrictEqual } from 'node:util';
import { controllerOf } from '#lib/control/owner-references.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import type { ObjectChange } from '#lib/kubernetes/informer/object-store.ts';
import { readObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { type FollowOptions, NamespacedObjects } from '../follow/namespaced-objects.ts';
import { targetName } from '../follow/workloads.ts';
import { hpaNameOf, type ScaledObject, targetOf } from '../objects/scaled-object.ts';
import type { ManagedHpa } from './hpa-client.ts';

/** HPAs, found by their targets. */
export function followHpas(resource: ApiResource, following: FollowOptions): NamespacedObjects<ManagedHpa> {
  return new NamespacedObjects(
    {
      resource,
      transform: (value) => readObject(value) as ManagedHpa,
      indexes: { target: targetNamesOf },
    },
    following,
  );
}

/** HPAs of the target of a ScaledObject, and that which has the name of its own. */
export function hpasBeside(
  hpas: Pick<NamespacedObjects<ManagedHpa>, 'find' | 'findBy'>,
  object: ScaledObject,
): readonly ManagedHpa[] {
  const named = hpas.find(`${object.metadata.namespace}/${hpaNameOf(object)}`);
  const found = hpas.findBy('target', targetName(targetOf(object)));
  return named ? [...new Set([named, ...found])] : found;
}

/** The ScaledObjects that an HPA belongs to, or did; none where nothing of it changes that they go by. */
export function ownersOf({ previous, current }: ObjectChange<ManagedHpa>): ReadonlySet<string> {
  if (previous && current && isSameForOwner(previous, current)) return new Set();
  return new Set(
    [previous, current].flatMap((hpa) => {
      const owner = hpa && controllerOf(hpa);
      return owner?.kind === 'ScaledObject' ? [`${hpa?.metadata.namespace}/${owner.name}`] : [];
    }),
  );
}

/** What the target of an HPA is called; nothing where it names none. */
export function targetNamesOf({ metadata, spec }: ManagedHpa): readonly string[] {
  const { apiVersion = '', kind, name } = spec?.scaleTargetRef ?? {};
  if (kind === undefined || name === undefined) return [];
  return [targetName({ apiVersion, kind, name, namespace: metadata.namespace ?? '' })];
}

/** What an HPA reads and decides changes all the time; what it says of its scaling hardly does. */
function isSameForOwner(previous: ManagedHpa, current: ManagedHpa): boolean {
  const parts = ({ metadata, spec, status }: ManagedHpa) => [
    ...[metadata.uid, metadata.labels, metadata.annotations, metadata.ownerReferences],
    ...[metadata.deletionTimestamp, spec, status?.conditions?.find(({ type }) => type === 'ScalingActive')],
  ];
  return isDeepStrictEqual(parts(previous), parts(current));
}
