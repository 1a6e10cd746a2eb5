import type { JsonObject } from '#lib/apiserver/encoding/json.ts';

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
