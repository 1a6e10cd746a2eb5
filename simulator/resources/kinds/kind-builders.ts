import { groupVersion, qualified, type ResourceType } from '../resource-type.ts';
import { OBJECT_META, type Schema } from '../schema.ts';

type Fields = Readonly<Record<string, Schema>>;

/** An object with known fields only. */
export function object(description: string, properties: Fields, more: Partial<Schema> = {}): Schema {
  return { description, type: 'object', properties, ...more };
}

/** An object that may have further fields. */
export function open(description: string, properties: Fields = {}, more: Partial<Schema> = {}): Schema {
  return object(description, properties, { 'x-kubernetes-preserve-unknown-fields': true, ...more });
}

export function text(description: string, more: Partial<Schema> = {}): Schema {
  return { description, type: 'string', ...more };
}

export function integer(description: string, more: Partial<Schema> = {}): Schema {
  return { description, type: 'integer', format: 'int32', ...more };
}

export function flag(description: string, more: Partial<Schema> = {}): Schema {
  return { description, type: 'boolean', ...more };
}

function time(description: string): Schema {
  return { description, type: 'string', format: 'date-time', nullable: true };
}

/** Keys and values of text. */
export function textMap(description: string): Schema {
  return { description, type: 'object', additionalProperties: { type: 'string' } };
}

/** A list that is replaced as a whole. */
export function list(description: string, items: Schema): Schema {
  return { description, type: 'array', items };
}

/** A list whose items are identified by keys; strategic merge patches use the first of them, or another. */
export function keyed(
  description: string,
  items: Schema,
  { keys, mergeKey }: { readonly keys: readonly string[]; readonly mergeKey?: string },
): Schema {
  return {
    ...list(description, items),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
    'x-kubernetes-patch-strategy': 'merge',
    ...(mergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': mergeKey }),
  };
}

/** A number or a text, such as a port or a percentage. */
export function integerOrText(description: string): Schema {
  return { description, 'x-kubernetes-int-or-string': true };
}

/** A top-level type: its own fields and those of every object. */
export function kind(description: string, fields: Fields, more: Partial<Schema> = {}): Schema {
  return object(
    description,
    {
      apiVersion: text('The versioned schema of this representation of an object.'),
      kind: text('The REST resource that this object represents.'),
      metadata: OBJECT_META,
      ...fields,
    },
    more,
  );
}

/** A top-level type without a schema of its own fields. */
export function openKind(description: string, fields: Fields = {}): Schema {
  return kind(description, fields, { 'x-kubernetes-preserve-unknown-fields': true });
}

/** Conditions, with each type once. */
export const CONDITIONS = keyed(
  'The latest observations of its state.',
  open('One observation.', {
    type: text('The type of the condition.'),
    status: text('True, False or Unknown.'),
    reason: text('Why, in one word.'),
    message: text('Why, for people.'),
    lastTransitionTime: time('When the status last changed.'),
  }),
  { keys: ['type'] },
);

export const LABEL_SELECTOR: Schema = object(
  'Selects objects by their labels; all requirements must be met.',
  {
    matchLabels: textMap('Labels that an object must have.'),
    matchExpressions: list(
      'Conditions on labels.',
      object(
        'A condition on one label.',
        {
          key: text('The label.'),
          operator: text('In, NotIn, Exists or DoesNotExist.'),
          values: list('Values of In and NotIn.', { type: 'string' }),
        },
        { required: ['key', 'operator'] },
      ),
    ),
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
    schema: openKind(`${facts.kind} of ${groupVersion(facts)}.`),
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
