import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isRecord, type Schema, schemaOfField } from '../schema/schema.ts';

/**
 * A set of fields of one object. Each is a path of elements as `FieldsV1` writes them: `f:NAME`, `k:{KEYS}` for an
 * item of a list that is merged by keys, and `v:VALUE` for an item of a set.
 */
export type FieldSet = ReadonlySet<string>;

const SEPARATOR = '\n';

/** Every field that an object has a value for, with that value; an item of a list stands for itself, too. */
export function leavesOf(object: unknown, schema: Schema | undefined): ReadonlyMap<string, unknown> {
  const leaves = new Map<string, unknown>();
  collect(object, schema, { path: '', leaves });
  return leaves;
}

interface Place {
  readonly path: string;
  readonly leaves: Map<string, unknown>;
}

function collect(value: unknown, schema: Schema | undefined, { path, leaves }: Place): void {
  const steps = stepsInto(value, schema);
  if (!steps || (steps.length === 0 && path !== '')) {
    leaves.set(path, value);
    return;
  }
  for (const { element, item, itemSchema } of steps) {
    const at = path === '' ? element : `${path}${SEPARATOR}${element}`;
    if (element.startsWith('v:')) leaves.set(at, undefined);
    else {
      if (element.startsWith('k:')) leaves.set(at, undefined);
      collect(item, itemSchema, { path: at, leaves });
    }
  }
}

/** One element below a value. */
interface Step {
  readonly element: string;
  readonly item: unknown;
  readonly itemSchema: Schema | undefined;
}

/** What a value consists of; `undefined` for one that is owned as a whole. */
export function stepsInto(value: unknown, schema: Schema | undefined): readonly Step[] | undefined {
  if (Array.isArray(value)) {
    const keys = schema?.['x-kubernetes-list-map-keys'] ?? [];
    switch (schema?.['x-kubernetes-list-type']) {
      case 'map':
        return value.map((item) => ({
          element: `k:${itemKey(item, keys, schema?.items)}`,
          item,
          itemSchema: schema?.items,
        }));
      case 'set':
        return value.map((item) => ({
          element: `v:${JSON.stringify(item)}`,
          item,
          itemSchema: schema?.items,
        }));
      default:
        return undefined;
    }
  }
  if (!isRecord(value) || schema?.['x-kubernetes-map-type'] === 'atomic') return undefined;
  return Object.entries(value).map(([field, item]) => ({
    element: `f:${field}`,
    item,
    itemSchema: schemaOfField(schema, field),
  }));
}

function itemKey(item: unknown, keys: readonly string[], schema: Schema | undefined): string {
  const keyValue = (key: string) =>
    (isRecord(item) ? item[key] : undefined) ?? schemaOfField(schema, key)?.default;
  return JSON.stringify(Object.fromEntries([...keys].sort().map((key) => [key, keyValue(key)])));
}

/** What of a set is in another as well. */
export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  return new Set([...left].filter((path) => right.has(path)));
}

/** What of a set is not in another. */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  return new Set([...left].filter((path) => !right.has(path)));
}

/** What is in any of the sets. */
export function union(...sets: readonly FieldSet[]): FieldSet {
  return new Set(sets.flatMap((set) => [...set]));
}

/** Whether the path is one of the set, or leads to one. */
export function reachesInto(set: FieldSet, path: string): boolean {
  if (set.has(path)) return true;
  for (const member of set) if (member.startsWith(`${path}${SEPARATOR}`)) return true;
  return false;
}

/** A path one element longer. */
export function pathTo(path: string, element: string): string {
  return path === '' ? element : `${path}${SEPARATOR}${element}`;
}

/** The set as `metadata.managedFields[].fieldsV1` has it. */
export function toFieldsV1(set: FieldSet): Readonly<Record<string, unknown>> {
  const root: Tree = {};
  const paths = [...set].sort().map((path) => path.split(SEPARATOR));
  const nodeAt = (elements: readonly string[]) =>
    elements.reduce<Tree>((node, element) => {
      node[element] ??= {};
      return node[element];
    }, root);
  for (const elements of paths) nodeAt(elements);
  // What has fields of its own in the set is a member itself by a dot.
  for (const elements of paths) {
    const node = nodeAt(elements);
    if (Object.keys(node).length > 0) node['.'] = {};
  }
  return root;
}

interface Tree {
  [element: string]: Tree;
}

/** Reads `fieldsV1`; what is no tree of objects is an empty set. */
export function fromFieldsV1(fields: unknown): FieldSet {
  const set = new Set<string>();
  const walk = (node: unknown, path: string): void => {
    if (!isRecord(node)) return;
    const elements = Object.keys(node);
    if (path !== '' && (elements.length === 0 || Object.hasOwn(node, '.'))) set.add(path);
    for (const element of elements) if (element !== '.') walk(node[element], pathTo(path, element));
  };
  walk(fields, '');
  return set;
}

/** A path as messages have it: `.spec.template.spec.containers[name="a"].image`. */
export function displayPath(path: string): string {
  return path
    .split(SEPARATOR)
    .map((element) => {
      if (element.startsWith('f:')) return `.${element.slice(2)}`;
      if (element.startsWith('v:')) return `[=${element.slice(2)}]`;
      const keys = Object.entries(JSON.parse(element.slice(2)) as Readonly<Record<string, unknown>>);
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
    })
    .join('');
}

/** Who set fields, and how: each of these has an entry of its own. */
export interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource?: string;
}

/** A manager and its fields. */
export interface Ownership extends Manager {
  readonly fields: FieldSet;
  /** RFC 3339, when the manager last changed anything; not when others took fields over. */
  readonly time?: string;
}

const entries = z.array(
  z.looseObject({
    manager: z.string().default(''),
    operation: z.enum(['Apply', 'Update']),
    apiVersion: z.string().default(''),
    time: z.string().optional(),
    subresource: z.string().optional(),
    fieldsV1: z.unknown(),
  }),
);

/** Reads `metadata.managedFields`; what is none owns nothing. */
export function readManagedFields(managedFields: unknown): readonly Ownership[] {
  const parsed = entries.safeParse(managedFields ?? []);
  if (!parsed.success) return [];
  return parsed.data.map(({ manager, operation, apiVersion, time, subresource, fieldsV1 }) => ({
    manager,
    operation,
    apiVersion,
    ...(subresource ? { subresource } : {}),
    ...(time === undefined ? {} : { time }),
    fields: fromFieldsV1(fieldsV1),
  }));
}

/** Writes `metadata.managedFields`: those who apply first, then by time, which is now of who has none. A set that is empty is left out. */
export function writeManagedFields(ownerships: readonly Ownership[], now: string): readonly unknown[] {
  const stamped = ownerships
    .filter(({ fields }) => fields.size > 0)
    .map((ownership) => ({ ...ownership, time: ownership.time ?? now }));
  const rank = ({ operation, time, manager }: Ownership) => `${operation} ${time} ${manager}`;
  return stamped
    .sort((left, right) => (rank(left) < rank(right) ? -1 : 1))
    .map(({ manager, operation, apiVersion, time, subresource, fields }) => ({
      manager,
      operation,
      apiVersion,
      time,
      fieldsType: 'FieldsV1',
      fieldsV1: toFieldsV1(fields),
      ...(subresource === undefined ? {} : { subresource }),
    }));
}

/** Whether two entries are of one manager: who applies may change the version meanwhile. */
export function isSameManager(left: Manager, right: Manager): boolean {
  return (
    left.manager === right.manager &&
    left.operation === right.operation &&
    left.subresource === right.subresource &&
    (left.operation === 'Apply' || left.apiVersion === right.apiVersion)
  );
}

/** What differs between two states of an object, field by field. */
interface Comparison {
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
