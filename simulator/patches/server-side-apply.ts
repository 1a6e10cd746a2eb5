import { isDeepStrictEqual } from 'node:util';
import { isRecord, type Schema, schemaOfField } from '../schema/schema.ts';
import {
  compare,
  difference,
  displayPath,
  type FieldSet,
  intersection,
  isSameManager,
  isServersOwn,
  leavesOf,
  type Manager,
  type Ownership,
  pathTo,
  reachesInto,
  stepsInto,
  union,
} from './managed-fields.ts';

/** Fields that somebody else manages and that would get another value. */
export interface ApplyConflict {
  readonly owner: Ownership;
  /** As `.spec.replicas`. */
  readonly field: string;
}

/** What applying comes to, unless somebody is in the way. */
type Applied =
  | { readonly object: unknown; readonly ownerships: readonly Ownership[] }
  | { readonly conflicts: readonly ApplyConflict[] };

/** Whose configuration is applied to what. */
interface ApplyOptions {
  readonly manager: Manager;
  readonly ownerships: readonly Ownership[];
  readonly schema: Schema | undefined;
  /** Takes over what others manage. */
  readonly force: boolean;
}

/**
 * Merges a configuration into an object: its fields get the given values, and those that the manager applied before
 * and gives up now go, unless somebody else manages them, too.
 */
export function serverSideApply(live: unknown, configuration: unknown, options: ApplyOptions): Applied {
  const { manager, schema, force } = options;
  const applied = new Set([...leavesOf(configuration, schema).keys()].filter((path) => !isServersOwn(path)));
  const others = options.ownerships.filter((one) => !isSameManager(one, manager));
  const own = options.ownerships.find((one) => isSameManager(one, manager));
  const before = own?.fields ?? new Set<string>();
  const givenUp = difference(before, applied);
  const merged = merge(live, configuration, schema);
  const kept = union(applied, ...others.map(({ fields }) => fields));
  const object = without(merged, schema, { path: '', givenUp, kept });
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
  const wanted = stepsInto(given, schema);
  if (!before || !wanted) return given;
  const mergedItems = before.map(({ element, item, itemSchema }) => {
    const change = wanted.find((one) => one.element === element);
    return change ? merge(item, change.item, itemSchema) : item;
  });
  const added = wanted.filter(({ element }) => !before.some((one) => one.element === element));
  return [...mergedItems, ...added.map(({ item }) => item)];
}

interface Removal {
  readonly path: string;
  readonly givenUp: FieldSet;
  /** What stays, since somebody wants it. */
  readonly kept: FieldSet;
}

/** A value without what was given up; an object or list that becomes empty by that goes with it. */
function without(value: unknown, schema: Schema | undefined, { path, givenUp, kept }: Removal): unknown {
  const steps = stepsInto(value, schema);
  if (!steps || !reachesIntoOrRoot(givenUp, path)) return value;
  const remaining = steps.flatMap(({ element, item, itemSchema }) => {
    const at = pathTo(path, element);
    if (givenUp.has(at) && !reachesInto(kept, at) && !isKeyOfItem(path, element)) return [];
    const rest = without(item, itemSchema, { path: at, givenUp, kept });
    return rest === undefined ? [] : [{ element, rest }];
  });
  if (remaining.length === 0 && steps.length > 0 && path !== '') return undefined;
  if (Array.isArray(value)) {
    const items = remaining.map(({ rest }) => rest);
    return isDeepStrictEqual(items, value) ? value : items;
  }
  return Object.fromEntries(remaining.map(({ element, rest }) => [element.slice(2), rest]));
}

/** An item that stays keeps what tells it apart. */
function isKeyOfItem(path: string, element: string): boolean {
  const parent = path.slice(path.lastIndexOf('\n') + 1);
  return parent.startsWith('k:') && Object.hasOwn(JSON.parse(parent.slice(2)), element.slice(2));
}

function reachesIntoOrRoot(set: FieldSet, path: string): boolean {
  return path === '' ? set.size > 0 : reachesInto(set, path);
}

/**
 * What Kubernetes 1.20 makes of a custom resource that is applied: an empty text becomes null, at every depth, which the schema then
 * refuses unless it is nullable.
 */
export function withEmptyTextsAsNulls(value: unknown): unknown {
  if (value === '') return null;
  if (Array.isArray(value)) return value.map(withEmptyTextsAsNulls);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withEmptyTextsAsNulls(field)]));
}
