import { isDeepStrictEqual } from 'node:util';
import type { Schema } from '../schema/schema.ts';
import { difference, type FieldSet, leavesOf, union } from './field-set.ts';
import { isSameManager, type Manager, type Ownership } from './managed-fields.ts';

/** What differs between two states of an object, field by field. */
export interface Comparison {
  /** New, or of another value. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

/** Compares two states; what identifies an object, and what only the server writes, is no field of anybody. */
export function compare(before: unknown, after: unknown, schema: Schema | undefined): Comparison {
  const old = leavesOf(before, schema);
  const next = leavesOf(after, schema);
  const changed = new Set<string>();
  for (const [path, value] of next)
    if (!isServersOwn(path) && !(old.has(path) && isDeepStrictEqual(old.get(path), value))) changed.add(path);
  return { changed, removed: new Set([...old.keys()].filter((path) => !next.has(path))) };
}

/** Gives to the manager that made a change what it changed, and takes that from everybody else; whose entry it is has no time, as it is new. */
export function trackUpdate(
  ownerships: readonly Ownership[],
  manager: Manager,
  { changed, removed }: Comparison,
): readonly Ownership[] {
  if (changed.size === 0 && removed.size === 0) return ownerships;
  const others = ownerships
    .filter((one) => !isSameManager(one, manager))
    .map((one) => ({ ...one, fields: difference(difference(one.fields, changed), removed) }));
  const own = ownerships.find((one) => isSameManager(one, manager))?.fields ?? new Set();
  return [...others, { ...manager, fields: union(difference(own, removed), changed) }];
}

const SERVERS_OWN = new Set(
  [
    ['apiVersion'],
    ['kind'],
    ...[
      ...['name', 'generateName', 'namespace', 'uid', 'resourceVersion', 'generation', 'creationTimestamp'],
      ...['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink', 'managedFields'],
    ].map((field) => ['metadata', field]),
  ].map((path) => path.map((field) => `f:${field}`).join('\n')),
);

/** Whether a path is of those that nobody manages. */
export function isServersOwn(path: string): boolean {
  return SERVERS_OWN.has(path) || SERVERS_OWN.has(path.split('\n', 2).join('\n')) || path === 'f:metadata';
}
