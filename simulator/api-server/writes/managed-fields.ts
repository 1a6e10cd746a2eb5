import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isRecord, type Schema, schemaOfField } from '../../resources/schema.ts';

/**
 * A set of fields of one object. Each is a path of elements as `FieldsV1` writes them: `f:NAME`, `k:{KEYS}` for an
 * item of a list that is merged by keys, and `v:VALUE` for an item of a set.
 */
export type FieldSet = ReadonlySet<string>;

const SEPARATOR = '\n';

/** All fields of an object with their values; an item of a list is a field itself. */
export function leavesOf(object: unknown, schema: Schema | undefined): ReadonlyMap<string, unknown> {
  const leaves = new Map<string, unknown>();
  collect(object, schema, { path: '', leaves });
  return leaves;
}

interface Collection {
  readonly path: string;
  readonly leaves: Map<string, unknown>;
}

function collect(value: unknown, schema: Schema | undefined, { path, leaves }: Collection): void {
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

/** The elements of a value; `undefined` for one that is managed as a whole. */
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

/** The fields in both sets. */
export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  return new Set([...left].filter((path) => right.has(path)));
}

/** The fields of a set that are not in another. */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  return new Set([...left].filter((path) => !right.has(path)));
}

/** The fields of all sets. */
export function union(...sets: readonly FieldSet[]): FieldSet {
  return new Set(sets.flatMap((set) => [...set]));
}

/** Whether the set contains the path or a path below it. */
export function containsOrLeadsTo(set: FieldSet, path: string): boolean {
  if (set.has(path)) return true;
  for (const member of set) if (member.startsWith(`${path}${SEPARATOR}`)) return true;
  return false;
}

/** A path with a further element. */
export function pathTo(path: string, element: string): string {
  return path === '' ? element : `${path}${SEPARATOR}${element}`;
}

/** Formats `metadata.managedFields[].fieldsV1`. */
export function toFieldsV1(set: FieldSet): Readonly<Record<string, unknown>> {
  const root: Tree = {};
  const paths = [...set].sort().map((path) => path.split(SEPARATOR));
  const nodeAt = (elements: readonly string[]) =>
    elements.reduce<Tree>((node, element) => {
      node[element] ??= {};
      return node[element];
    }, root);
  for (const elements of paths) nodeAt(elements);
  // A field with fields of its own in the set is itself written as a dot.
  for (const elements of paths) {
    const node = nodeAt(elements);
    if (Object.keys(node).length > 0) node['.'] = {};
  }
  return root;
}

interface Tree {
  [element: string]: Tree;
}

/** Parses `fieldsV1`; an invalid value is an empty set. */
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

/** Formats a path for messages: `.spec.template.spec.containers[name="a"].image`. */
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

/** The identity of a field manager; each has its own entry. */
export interface FieldManager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource?: string;
}

/** An entry of `metadata.managedFields`. */
export interface ManagedFieldsEntry extends FieldManager {
  readonly fields: FieldSet;
  /** RFC 3339, the last change by the manager; not of changes by which others took fields over. */
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

/** Parses `metadata.managedFields`; invalid entries are ignored. */
export function readManagedFields(managedFields: unknown): readonly ManagedFieldsEntry[] {
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

/**
 * Formats `metadata.managedFields`: first entries of Apply, then by time; entries without one get the current time.
 * Empty sets are omitted.
 */
export function writeManagedFields(
  ownerships: readonly ManagedFieldsEntry[],
  now: string,
): readonly unknown[] {
  const stamped = ownerships
    .filter(({ fields }) => fields.size > 0)
    .map((ownership) => ({ ...ownership, time: ownership.time ?? now }));
  const rank = ({ operation, time, manager }: ManagedFieldsEntry) => `${operation} ${time} ${manager}`;
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

/** Whether two entries are of one manager: the version of Apply may change. */
export function isSameManager(left: FieldManager, right: FieldManager): boolean {
  return (
    left.manager === right.manager &&
    left.operation === right.operation &&
    left.subresource === right.subresource &&
    (left.operation === 'Apply' || left.apiVersion === right.apiVersion)
  );
}

/** The fields in which two states of an object differ. */
interface Comparison {
  /** New fields, and fields with a new value. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

/** Compares two states; identity and fields that only the server sets are ignored. */
export function compare(before: unknown, after: unknown, schema: Schema | undefined): Comparison {
  const old = leavesOf(before, schema);
  const next = leavesOf(after, schema);
  const changed = new Set<string>();
  for (const [path, value] of next)
    if (!isServerManaged(path) && !(old.has(path) && isDeepStrictEqual(old.get(path), value)))
      changed.add(path);
  return { changed, removed: new Set([...old.keys()].filter((path) => !next.has(path))) };
}

/** Moves changed fields to the manager that changed them; its entry has no time, as it is new. */
export function trackUpdate(
  ownerships: readonly ManagedFieldsEntry[],
  manager: FieldManager,
  { changed, removed }: Comparison,
): readonly ManagedFieldsEntry[] {
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

/** Whether a path is managed by the server alone. */
export function isServerManaged(path: string): boolean {
  return SERVERS_OWN.has(path) || SERVERS_OWN.has(path.split('\n', 2).join('\n')) || path === 'f:metadata';
}
