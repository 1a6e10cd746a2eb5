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
export interface Step {
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
