import type { JsonObject, JsonValue } from './json.ts';

/** A schema in OpenAPI 3. */
export type Schema = JsonObject;

/** Schemas by name. */
export type Schemas = Readonly<Record<string, Schema>>;

/** JSON pointer to the schemas of a document. */
export const SCHEMAS_PATH = '#/components/schemas/';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** Names of schemas that all kinds refer to. */
export const META_SCHEMA = {
  duration: `${META}.Duration`,
  fields: `${META}.FieldsV1`,
  listMeta: `${META}.ListMeta`,
  managedFields: `${META}.ManagedFieldsEntry`,
  objectMeta: `${META}.ObjectMeta`,
  ownerReference: `${META}.OwnerReference`,
  quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  time: `${META}.Time`,
} as const;

export function text(description: string): Schema {
  return { description, type: 'string' };
}

export function flag(description: string): Schema {
  return { description, type: 'boolean' };
}

/** A 64-bit integer. */
export function wholeNumber(description: string): Schema {
  return { description, type: 'integer', format: 'int64' };
}

/**
 * An array.
 *
 * @param extensions merge rules, in Kubernetes' `x-` fields
 */
export function listOf(description: string, items: Schema, extensions: JsonObject = {}): Schema {
  return { description, type: 'array', items, ...extensions };
}

/** An object with arbitrary names. */
export function mapOf(description: string, additionalProperties: Schema): Schema {
  return { description, type: 'object', additionalProperties };
}

/** Values of arrays and maps of strings. */
export const ANY_TEXT: Schema = { type: 'string', default: '' };

/**
 * Refers to another schema of the document.
 *
 * @param initial default value; `undefined` where the field is optional
 */
export function reference(name: string, description?: string, initial?: JsonValue): Schema {
  return {
    ...(description !== undefined && { description }),
    ...(initial !== undefined && { default: initial }),
    allOf: [{ $ref: SCHEMAS_PATH + name }],
  };
}

/** An object with fields; required strings and booleans default to empty. */
export function objectOf(
  description: string,
  fields: {
    readonly required?: readonly string[];
    readonly properties: Schemas;
    readonly extensions?: JsonObject;
  },
): Schema {
  const { required = [], properties, extensions = {} } = fields;
  return {
    description,
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [
        name,
        required.includes(name) ? { ...schema, ...initialOf(schema) } : schema,
      ]),
    ),
    ...extensions,
  };
}

/** The two fields that name the type of every Kubernetes object. */
export const TYPE_META: Schemas = {
  apiVersion: text('The API group and version of this object, as in apps/v1.'),
  kind: text('The kind of this object, as in Pod.'),
};

/** Marks the schema of a whole kind. */
export function kindExtension(
  ...kinds: readonly { group: string; version: string; kind: string }[]
): JsonObject {
  return { 'x-kubernetes-group-version-kind': kinds };
}

function initialOf({ type }: Schema): JsonObject {
  if (type === 'string') return { default: '' };
  return type === 'boolean' ? { default: false } : {};
}

/** A parameter of an operation, in OpenAPI 3. */
export type Parameter = JsonObject & { readonly name: string };

/** A query parameter. */
export function queryParameter(name: string, type: string, description: string): Parameter {
  return { name, in: 'query', description, schema: { type, uniqueItems: true } };
}

/** A path parameter. */
export function pathParameter(name: string, description: string): Parameter {
  return { name, in: 'path', description, required: true, schema: { type: 'string', uniqueItems: true } };
}
