import type { JsonObject, JsonValue } from './json.ts';

/** A schema as OpenAPI 3 has it. */
export type Schema = JsonObject;

/** Schemas by their names. */
export type Schemas = Readonly<Record<string, Schema>>;

/** Where the schemas of a document stand. */
export const SCHEMAS_PATH = '#/components/schemas/';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** The names under which schemas of served kinds refer to what all kinds are made of. */
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

/** A text. */
export function text(description: string): Schema {
  return { description, type: 'string' };
}

/** True or false. */
export function flag(description: string): Schema {
  return { description, type: 'boolean' };
}

/** A whole number of 64 bits. */
export function wholeNumber(description: string): Schema {
  return { description, type: 'integer', format: 'int64' };
}

/** Several of a kind. @param extensions how they are merged, in Kubernetes' `x-` fields */
export function listOf(description: string, items: Schema, extensions: JsonObject = {}): Schema {
  return { description, type: 'array', items, ...extensions };
}

/** Values of a kind by any names. */
export function mapOf(description: string, additionalProperties: Schema): Schema {
  return { description, type: 'object', additionalProperties };
}

/** The values inside of lists and maps of texts. */
export const ANY_TEXT: Schema = { type: 'string', default: '' };

/** Another schema of the document. @param initial what it begins with; `undefined` where it may be missing */
export function reference(name: string, description?: string, initial?: JsonValue): Schema {
  return {
    ...(description !== undefined && { description }),
    ...(initial !== undefined && { default: initial }),
    allOf: [{ $ref: SCHEMAS_PATH + name }],
  };
}

/** An object with fields; texts and flags that are required begin empty. */
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

/** The two fields by which every object of Kubernetes tells what it is. */
export const TYPE_META: Schemas = {
  apiVersion: text('The API group and version of this object, as in apps/v1.'),
  kind: text('What this object is, as in Pod.'),
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

/** A parameter of an operation, as OpenAPI 3 has it. */
export type Parameter = JsonObject & { readonly name: string };

/** A parameter behind the `?`. */
export function queryParameter(name: string, type: string, description: string): Parameter {
  return { name, in: 'query', description, schema: { type, uniqueItems: true } };
}

/** What stands in braces in a path. */
export function pathParameter(name: string, description: string): Parameter {
  return { name, in: 'path', description, required: true, schema: { type: 'string', uniqueItems: true } };
}
