import { canonicalQuantity } from './quantity.ts';

type SchemaType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';

/**
 * An OpenAPI v3 schema as in CustomResourceDefinitions (`JSONSchemaProps`), which describes built-in types, too. Other
 * keywords than these, such as `oneOf` and CEL rules, are accepted and not evaluated: no definition here has them.
 */
export interface Schema {
  readonly type?: SchemaType;
  readonly description?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly anyOf?: readonly Schema[];
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  /** `merge` for lists whose items such a patch merges; other lists are replaced. */
  readonly 'x-kubernetes-patch-strategy'?: string;
}

/** Whether a value is a JSON object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The schema of a field, `undefined` when it has none. */
export function schemaOfField(schema: Schema | undefined, field: string): Schema | undefined {
  if (!schema) return undefined;
  const { properties, additionalProperties } = schema;
  if (properties && Object.hasOwn(properties, field)) return properties[field];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** The metadata of every object; owners and finalizers are merged, not replaced. */
export const OBJECT_META: Schema = {
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  properties: {
    creationTimestamp: { type: 'string', format: 'date-time', nullable: true },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
    finalizers: {
      type: 'array',
      items: { type: 'string' },
      'x-kubernetes-list-type': 'set',
      'x-kubernetes-patch-strategy': 'merge',
    },
    ownerReferences: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
      'x-kubernetes-patch-strategy': 'merge',
    },
  },
};

/**
 * Adds the defaults of a schema to a value and makes its quantities canonical, at every depth; a complete value stays the
 * same object.
 */
export function withDefaults(value: unknown, schema: Schema | undefined): unknown {
  if (!schema) return value;
  if (schema.format === 'quantity') return canonicalQuantity(value) ?? value;
  if (Array.isArray(value)) return defaultsOfItems(value, schema.items);
  return isRecord(value) ? defaultsOfFields(value, schema) : value;
}

function defaultsOfItems(items: readonly unknown[], schema: Schema | undefined): readonly unknown[] {
  if (!schema) return items;
  const completed = items.map((item) => withDefaults(item, schema));
  return completed.some((item, index) => item !== items[index]) ? completed : items;
}

function defaultsOfFields(value: Readonly<Record<string, unknown>>, schema: Schema): unknown {
  const completed: Record<string, unknown> = {};
  let isChanged = false;
  for (const [field, old] of Object.entries(value)) {
    const fieldSchema = schemaOfField(schema, field);
    // A null that is not allowed is absent.
    const isAbsent = old === null && fieldSchema !== undefined && fieldSchema.nullable !== true;
    if (!isAbsent) completed[field] = withDefaults(old, fieldSchema);
    if (isAbsent || completed[field] !== old) isChanged = true;
  }
  for (const [field, fieldSchema] of Object.entries(schema.properties ?? {})) {
    if (fieldSchema.default === undefined || Object.hasOwn(completed, field)) continue;
    completed[field] = withDefaults(structuredClone(fieldSchema.default), fieldSchema);
    isChanged = true;
  }
  return isChanged ? completed : value;
}

/** A value without unknown fields, and the paths of these. */
interface Pruned {
  readonly value: unknown;
  /** As `spec.jobs[0].colour`. */
  readonly unknownFields: readonly string[];
}

/**
 * Removes fields that are not in the schema, as the API server does; a value without such fields stays the same object.
 */
export function prune(value: unknown, schema: Schema): Pruned {
  const unknownFields: string[] = [];
  return { value: pruned(value, schema, { path: '', unknownFields }), unknownFields };
}

interface PruneState {
  readonly path: string;
  readonly unknownFields: string[];
}

function pruned(value: unknown, schema: Schema, state: PruneState): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!items) return value;
    const remaining = value.map((item, index) =>
      pruned(item, items, { ...state, path: `${state.path}[${index}]` }),
    );
    return remaining.some((item, index) => item !== value[index]) ? remaining : value;
  }
  return isRecord(value) ? prunedFields(value, schema, state) : value;
}

function prunedFields(value: Readonly<Record<string, unknown>>, schema: Schema, state: PruneState): unknown {
  const preservesUnknown =
    schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true;
  const remaining: Record<string, unknown> = {};
  let isChanged = false;
  for (const [field, old] of Object.entries(value)) {
    const path = state.path === '' ? field : `${state.path}.${field}`;
    const fieldSchema = schemaOfField(schema, field);
    if (fieldSchema) remaining[field] = pruned(old, fieldSchema, { ...state, path });
    else if (preservesUnknown) remaining[field] = old;
    else state.unknownFields.push(path);
    if (remaining[field] !== old) isChanged = true;
  }
  return isChanged ? remaining : value;
}
