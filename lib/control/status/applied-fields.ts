import { type KubernetesObject, propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';

/**
 * What of an object's status a field manager has applied, as it is now: neither what others added, nor what others
 * have set to something else.
 *
 * @returns `undefined` where the object does not tell whose its fields are
 */
export function appliedStatus(object: KubernetesObject, fieldManager: string): unknown {
  const entries = propertyOf(object.metadata, 'managedFields');
  if (!Array.isArray(entries)) return undefined;
  const ours = fieldsOf(entries, fieldManager, 'status') ?? fieldsOf(entries, fieldManager, undefined); // before Kubernetes 1.22
  const fields = propertyOf(ours, 'f:status');
  return fields === undefined ? {} : extract(propertyOf(object, 'status'), fields);
}

/**
 * The same of an object without its subresources: what a field manager has applied, as it is now.
 *
 * @returns `undefined` where the object does not tell whose its fields are
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

/** @param fields as `fieldsV1` has them: without any below, all of the value is meant */
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

/** The item, as far as it is one of those that are named: by its keys, its value or its index. */
function extractItem(item: unknown, { index, fields, names }: Among): unknown[] {
  const name = names.find((one) => isNamed(item, index, one));
  return name === undefined ? [] : [extract(item, propertyOf(fields, name))];
}

function isNamed(item: unknown, index: number, name: string): boolean {
  const told: unknown = JSON.parse(name.slice(2));
  if (name.startsWith('k:')) {
    return Object.entries(told ?? {}).every(([key, value]) => propertyOf(item, key) === value);
  }
  return name.startsWith('v:') ? item === told : index === told;
}
