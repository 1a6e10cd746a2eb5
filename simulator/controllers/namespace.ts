import { deleteObject, updateOrFinish } from '../objects/deletion.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import type { ControllerContext } from './controller-context.ts';

/** Empties a namespace that is to go, and lets it go when nothing is left in it. */
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
      const isGone =
        object.metadata.deletionTimestamp === undefined &&
        deleteObject(object, { store, clock, storage }).isGone;
      if (!isGone) remaining++;
    }
  }
  if (remaining > 0) return;
  const spec = { ...(namespace.spec as object | undefined), finalizers: [] };
  updateOrFinish({ ...namespace, spec }, { store, storage: 'namespaces' });
}
