import { groupVersion, qualified, type ResourceType } from '../resource-type.ts';
import { OBJECT_META, type Schema } from '../schema.ts';

type Fields = Readonly<Record<string, Schema>>;

/** An object with known fields only. */
export function object(properties: Fields, more: Partial<Schema> = {}): Schema {
  return { type: 'object', properties, ...more };
}

/** An object that may have further fields; only fields with a rule are listed. */
export function open(properties: Fields = {}, more: Partial<Schema> = {}): Schema {
  return object(properties, { 'x-kubernetes-preserve-unknown-fields': true, ...more });
}

export function text(more: Partial<Schema> = {}): Schema {
  return { type: 'string', ...more };
}

export function integer(more: Partial<Schema> = {}): Schema {
  return { type: 'integer', format: 'int32', ...more };
}

/** A list that is replaced as a whole. */
export function list(items: Schema): Schema {
  return { type: 'array', items };
}

/** A list whose items are identified by keys; strategic merge patches use the first of them. */
export function keyed(items: Schema, ...keys: readonly string[]): Schema {
  return {
    ...list(items),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
    'x-kubernetes-patch-strategy': 'merge',
  };
}

/** Keys and values of text. */
export const TEXT_MAP: Schema = { type: 'object', additionalProperties: { type: 'string' } };

/** A resource quantity, of which the API server stores the canonical form. */
export const QUANTITY: Schema = { type: 'string', format: 'quantity' };

/** Quantities by resource. */
export const QUANTITY_MAP: Schema = { type: 'object', additionalProperties: QUANTITY };

/** A top-level type: its own fields and those of every object. */
export function kind(fields: Fields, more: Partial<Schema> = {}): Schema {
  return object({ apiVersion: text(), kind: text(), metadata: OBJECT_META, ...fields }, more);
}

/** A top-level type of which only fields with a rule are listed. */
export function openKind(fields: Fields = {}): Schema {
  return kind(fields, { 'x-kubernetes-preserve-unknown-fields': true });
}

/** Conditions, with each type once. */
export const CONDITIONS = keyed(open(), 'type');

export const LABEL_SELECTOR: Schema = open(
  {
    matchLabels: TEXT_MAP,
    matchExpressions: list(open({ key: text(), operator: text() }, { required: ['key', 'operator'] })),
  },
  { 'x-kubernetes-map-type': 'atomic' },
);

/** A built-in type, and the minor versions of Kubernetes 1 that serve it. */
export interface BuiltIn {
  readonly type: ResourceType;
  /** The first minor version that serves it; the oldest simulated one by default. */
  readonly introducedIn?: number;
  /** The last minor version that serves it. */
  readonly removedAfter?: number;
}

/** The required facts of a built-in type; the others have defaults. */
type BuiltInFacts = Pick<ResourceType, 'group' | 'version' | 'resource' | 'kind' | 'isNamespaced'> &
  Partial<ResourceType> & { readonly introducedIn?: number; readonly removedAfter?: number };

const STORED_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** Completes a row of the table of built-in types. */
export function builtIn({ introducedIn, removedAfter, ...facts }: BuiltInFacts): BuiltIn {
  const type: ResourceType = {
    singular: facts.kind.toLowerCase(),
    listKind: `${facts.kind}List`,
    verbs: STORED_VERBS,
    storage: qualified(facts),
    storageVersion: groupVersion(facts),
    isCustom: false,
    hasStatus: false,
    takesInitialStatus: false,
    hasGeneration: false,
    schema: openKind(),
    allowsUnconditionalUpdate: true,
    returnsDeletedObject: false,
    ...facts,
  };
  return {
    type,
    ...(introducedIn === undefined ? {} : { introducedIn }),
    ...(removedAfter === undefined ? {} : { removedAfter }),
  };
}

/** A type whose objects are computed and not stored. */
export function review(group: string, resource: string, kind: string): BuiltIn {
  return builtIn({ group, version: 'v1', resource, kind, isNamespaced: false, verbs: ['create'] });
}
