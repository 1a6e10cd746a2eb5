import { isDeepStrictEqual } from 'node:util';
import { isRecord, type Schema, schemaOfField } from '../../resources/schema.ts';
import {
  compare,
  containsOrLeadsTo,
  difference,
  displayPath,
  type FieldManager,
  type FieldSet,
  intersection,
  isSameManager,
  isServerManaged,
  leavesOf,
  type ManagedFieldsEntry,
  pathTo,
  stepsInto,
  union,
} from './managed-fields.ts';

/** A field that another manager sets to another value. */
export interface ApplyConflict {
  readonly owner: ManagedFieldsEntry;
  /** As `.spec.replicas`. */
  readonly field: string;
}

type Applied =
  | { readonly object: unknown; readonly ownerships: readonly ManagedFieldsEntry[] }
  | { readonly conflicts: readonly ApplyConflict[] };

interface ApplyOptions {
  readonly manager: FieldManager;
  readonly ownerships: readonly ManagedFieldsEntry[];
  readonly schema: Schema | undefined;
  /** Takes over fields of other managers. */
  readonly force: boolean;
}

/**
 * Merges a configuration into an object. Its fields get the given values; fields that the manager applied before and
 * not now are removed, unless other managers set them.
 */
export function serverSideApply(live: unknown, configuration: unknown, options: ApplyOptions): Applied {
  const { manager, schema, force } = options;
  const applied = new Set(
    [...leavesOf(configuration, schema).keys()].filter((path) => !isServerManaged(path)),
  );
  const others = options.ownerships.filter((one) => !isSameManager(one, manager));
  const own = options.ownerships.find((one) => isSameManager(one, manager));
  const before = own?.fields ?? new Set<string>();
  const givenUp = difference(before, applied);
  const merged = merge(live, configuration, schema);
  const retained = union(applied, ...others.map(({ fields }) => fields));
  const object = without(merged, schema, { path: '', givenUp, retained });
  const { changed, removed } = compare(live, object, schema);
  const conflicts = others.flatMap((owner) =>
    [...intersection(owner.fields, changed)].map((path) => ({ owner, field: displayPath(path) })),
  );
  if (conflicts.length > 0 && !force) return { conflicts };
  const remaining = others.map((one) => ({
    ...one,
    fields: difference(difference(one.fields, changed), removed),
  }));
  const isAsBefore = changed.size === 0 && removed.size === 0 && isDeepStrictEqual(before, applied);
  const time = isAsBefore && own?.time !== undefined ? { time: own.time } : {};
  return { object, ownerships: [...remaining, { ...manager, ...time, fields: applied }] };
}

function merge(live: unknown, given: unknown, schema: Schema | undefined): unknown {
  if (Array.isArray(given) && Array.isArray(live)) return mergeLists(live, given, schema);
  if (!isRecord(given) || !isRecord(live) || schema?.['x-kubernetes-map-type'] === 'atomic') return given;
  const merged: Record<string, unknown> = { ...live };
  for (const [field, value] of Object.entries(given))
    merged[field] = merge(merged[field], value, schemaOfField(schema, field));
  return merged;
}

function mergeLists(
  live: readonly unknown[],
  given: readonly unknown[],
  schema: Schema | undefined,
): unknown {
  const before = stepsInto(live, schema);
  const desired = stepsInto(given, schema);
  if (!before || !desired) return given;
  const mergedItems = before.map(({ element, item, itemSchema }) => {
    const change = desired.find((one) => one.element === element);
    return change ? merge(item, change.item, itemSchema) : item;
  });
  const added = desired.filter(({ element }) => !before.some((one) => one.element === element));
  return [...mergedItems, ...added.map(({ item }) => item)];
}

interface Removal {
  readonly path: string;
  readonly givenUp: FieldSet;
  /** Fields that other managers set. */
  readonly retained: FieldSet;
}

/** Removes fields; an object or list that becomes empty is removed, too. */
function without(value: unknown, schema: Schema | undefined, { path, givenUp, retained }: Removal): unknown {
  const steps = stepsInto(value, schema);
  if (!steps || !reachesIntoOrRoot(givenUp, path)) return value;
  const remaining = steps.flatMap(({ element, item, itemSchema }) => {
    const at = pathTo(path, element);
    if (givenUp.has(at) && !containsOrLeadsTo(retained, at) && !isKeyOfItem(path, element)) return [];
    const rest = without(item, itemSchema, { path: at, givenUp, retained });
    return rest === undefined ? [] : [{ element, rest }];
  });
  if (remaining.length === 0 && steps.length > 0 && path !== '') return undefined;
  if (Array.isArray(value)) {
    const items = remaining.map(({ rest }) => rest);
    return isDeepStrictEqual(items, value) ? value : items;
  }
  return Object.fromEntries(remaining.map(({ element, rest }) => [element.slice(2), rest]));
}

/** An item retains the keys by which it is identified. */
function isKeyOfItem(path: string, element: string): boolean {
  const parent = path.slice(path.lastIndexOf('\n') + 1);
  return parent.startsWith('k:') && Object.hasOwn(JSON.parse(parent.slice(2)), element.slice(2));
}

function reachesIntoOrRoot(set: FieldSet, path: string): boolean {
  return path === '' ? set.size > 0 : containsOrLeadsTo(set, path);
}

/**
 * Replaces empty texts by nulls, which the schema then refuses unless it is nullable: Kubernetes 1.20 does so in
 * applied custom resources.
 */
export function withEmptyTextsAsNulls(value: unknown): unknown {
  if (value === '') return null;
  if (Array.isArray(value)) return value.map(withEmptyTextsAsNulls);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withEmptyTextsAsNulls(field)]));
}
