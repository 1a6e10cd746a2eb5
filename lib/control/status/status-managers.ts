import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';

/** Somebody whose fields are in a status. */
export interface StatusManager {
  /** As in `kube-controller-manager`. */
  readonly manager: string;
  readonly writtenAtMs: number;
}

/** Who has written the status of an object, as far as its `managedFields` tell. */
export function statusManagers(managedFields: unknown): readonly StatusManager[] {
  if (!Array.isArray(managedFields)) return [];
  return managedFields.flatMap((entry: unknown) => {
    const manager = propertyOf(entry, 'manager');
    const time = propertyOf(entry, 'time');
    const subresource = propertyOf(entry, 'subresource');
    // Before 1.22 entries do not tell the subresource.
    const isOfStatus =
      subresource === 'status' || propertyOf(propertyOf(entry, 'fieldsV1'), 'f:status') !== undefined;
    if (!isOfStatus || typeof manager !== 'string' || typeof time !== 'string') return [];
    const writtenAtMs = Date.parse(time);
    return Number.isNaN(writtenAtMs) ? [] : [{ manager, writtenAtMs }];
  });
}
