import { type KubernetesObject, parseJson, propertyOf } from './kubernetes-object.ts';

/**
 * The part of an object's status that a field manager has applied, with current values; without fields that others
 * added or have changed since.
 *
 * @returns `undefined` where the object has no managed fields
 */
export function appliedStatus(object: KubernetesObject, fieldManager: string): unknown {
  const entries = propertyOf(object.metadata, 'managedFields');
  if (!Array.isArray(entries)) return undefined;
  const ours = fieldsOf(entries, fieldManager, 'status') ?? fieldsOf(entries, fieldManager, undefined); // before Kubernetes 1.22
  const fields = propertyOf(ours, 'f:status');
  return fields === undefined ? {} : extract(propertyOf(object, 'status'), fields);
}

/**
 * The same for an object without its subresources.
 *
 * @returns `undefined` where the object has no managed fields
 */
export function appliedFields(object: KubernetesObject, fieldManager: string): unknown {
  const entries = propertyOf(object.metadata, 'managedFields');
  if (!Array.isArray(entries)) return undefined;
  const fields = fieldsOf(entries, fieldManager, undefined);
  return fields === undefined ? {} : extract(object, fields);
}

function fieldsOf(
  entries: readonly unknown[],
  fieldManager: string,
  subresource: string | undefined,
): unknown {
  const ours = entries.find(
    (entry) =>
      propertyOf(entry, 'manager') === fieldManager &&
      propertyOf(entry, 'operation') === 'Apply' &&
      propertyOf(entry, 'subresource') === subresource,
  );
  return propertyOf(ours, 'fieldsV1');
}

/** @param fields as in `fieldsV1`: a leaf means the whole value */
function extract(value: unknown, fields: unknown): unknown {
  const names = Object.keys(fields ?? {}).filter((name) => name !== '.');
  if (names.length === 0) return value;
  if (Array.isArray(value))
    return value.flatMap((item, index) => extractItem(item, { index, fields, names }));
  const found = names.flatMap((name) => {
    const field = name.slice(2);
    const property = propertyOf(value, field);
    return property === undefined ? [] : [[field, extract(property, propertyOf(fields, name))] as const];
  });
  return Object.fromEntries(found);
}

interface Among {
  readonly index: number;
  readonly fields: unknown;
  readonly names: readonly string[];
}

/** The part of an item that the names select by its keys, its value or its index. */
function extractItem(item: unknown, { index, fields, names }: Among): unknown[] {
  const name = names.find((one) => isNamed(item, index, one));
  return name === undefined ? [] : [extract(item, propertyOf(fields, name))];
}

function isNamed(item: unknown, index: number, name: string): boolean {
  const parsed = parseJson(name.slice(2));
  if (name.startsWith('k:')) {
    return Object.entries(parsed ?? {}).every(([key, value]) => propertyOf(item, key) === value);
  }
  return name.startsWith('v:') ? item === parsed : index === parsed;
}

/** A manager of fields in a status. */
export interface StatusManager {
  /** Such as `kube-controller-manager`. */
  readonly manager: string;
  readonly writtenAtMs: number;
}

/** Managers of an object's status, by its `managedFields`. */
export function statusManagers(managedFields: unknown): readonly StatusManager[] {
  if (!Array.isArray(managedFields)) return [];
  return managedFields.flatMap((entry: unknown) => {
    const manager = propertyOf(entry, 'manager');
    const time = propertyOf(entry, 'time');
    const subresource = propertyOf(entry, 'subresource');
    // Before 1.22 entries do not have the subresource.
    const isOfStatus =
      subresource === 'status' || propertyOf(propertyOf(entry, 'fieldsV1'), 'f:status') !== undefined;
    if (!isOfStatus || typeof manager !== 'string' || typeof time !== 'string') return [];
    const writtenAtMs = Date.parse(time);
    return Number.isNaN(writtenAtMs) ? [] : [{ manager, writtenAtMs }];
  });
}

/**
 * The entries of `managedFields` that {@link appliedStatus} of one field manager and {@link statusManagers} read; all
 * entries are often longer than the rest of an object.
 */
export function statusFieldsOnly(
  managedFields: unknown,
  fieldManager: string,
): readonly object[] | undefined {
  if (!Array.isArray(managedFields)) return undefined;
  return managedFields.flatMap((entry: unknown): readonly object[] => {
    const fields = propertyOf(propertyOf(entry, 'fieldsV1'), 'f:status');
    const [manager, operation, time, subresource] = ['manager', 'operation', 'time', 'subresource'].map(
      (name) => propertyOf(entry, name),
    );
    if (fields === undefined && subresource !== 'status') return [];
    if (manager === fieldManager && operation === 'Apply')
      return [
        {
          manager,
          operation,
          time,
          ...(subresource === 'status' && { subresource }),
          fieldsV1: { 'f:status': fields },
        },
      ];
    return [{ manager, operation, time, subresource: 'status' }];
  });
}

/** Times of changes in an object's metadata, as the API server sent them. */
interface ChangeTimes {
  readonly generation?: number | undefined;
  readonly creationTimestamp?: string | undefined;
  readonly managedFields?: unknown;
}

/**
 * When an object's spec was last changed, by the API server's clock, in whole seconds, but not before the object was
 * created, as for one that was restored from a backup.
 *
 * @returns `undefined` where the metadata does not imply it
 */
export function specChangedAt({
  generation,
  creationTimestamp = '',
  managedFields,
}: ChangeTimes): number | undefined {
  const createdAtMs = Date.parse(creationTimestamp);
  const times = (Array.isArray(managedFields) ? managedFields : [])
    .filter((entry) => propertyOf(propertyOf(entry, 'fieldsV1'), 'f:spec') !== undefined)
    .map((entry) => Date.parse(String(propertyOf(entry, 'time'))));
  if (times.length === 0 && generation !== 1) return undefined; // changed since, at an unknown time
  const changedAtMs = times.reduce((latestMs, ms) => Math.max(latestMs, ms), createdAtMs);
  return Number.isNaN(changedAtMs) ? undefined : changedAtMs;
}
