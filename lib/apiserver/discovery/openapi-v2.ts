import { createHash } from 'node:crypto';
import { goJson, type JsonObject, type JsonValue } from '#lib/apiserver/encoding/json.ts';
import { type Parameter, SCHEMAS_PATH } from '#lib/apiserver/encoding/schema.ts';
import { type ApiDocument, referredSchemas } from './api-documents.ts';
import type { ApiInfo } from './openapi-v3.ts';
import type { Operation } from './operations.ts';

/** Merges all documents into the single one of OpenAPI 2. */
export function openApiV2(documents: readonly ApiDocument[], info: ApiInfo): JsonObject {
  const operations = documents.flatMap((document) => document.operations);
  const byPath = operations.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const schemas = documents.map((document) =>
    referredSchemas(
      document.operations.map(({ schema }) => schema),
      document.schemas,
    ),
  );
  const definitions = Object.entries(Object.assign({}, ...schemas) as JsonObject);
  const shared = sharedParameters(operations);
  return {
    swagger: '2.0',
    info: { title: info.title, version: info.version },
    paths: Object.fromEntries(byPath.map((operation) => [operation.path, pathItem(operation, shared)])),
    definitions: Object.fromEntries(
      definitions.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, schema]) => [name, toV2(schema)]),
    ),
    parameters: Object.fromEntries(
      [...shared]
        .map(([parameter, name]) => [name, parameterToV2(parameter)])
        .sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
    ),
  };
}

function pathItem(operation: Operation, shared: ReadonlyMap<Parameter, string>): JsonObject {
  const { id, tag, description, consumes, produces, schema, parameters, extensions } = operation;
  return {
    get: {
      description,
      consumes,
      produces,
      schemes: ['https'],
      tags: [tag],
      operationId: id,
      responses: { '200': { description: 'OK', schema: { $ref: `#/definitions/${schema}` } } },
      ...extensions,
    },
    ...(parameters.length > 0 && {
      parameters: parameters.map((parameter) => {
        const name = shared.get(parameter);
        return name === undefined ? parameterToV2(parameter) : { $ref: `#/parameters/${name}` };
      }),
    }),
  };
}

/** Parameters that several operations share, under names with a hash of their content. */
function sharedParameters(operations: readonly Operation[]): ReadonlyMap<Parameter, string> {
  const uses = Map.groupBy(
    operations.flatMap(({ parameters }) => parameters),
    (parameter) => parameter,
  );
  return new Map(
    [...uses]
      .filter(([, all]) => all.length > 1)
      .map(([parameter]) => [parameter, `${parameter.name}-${shortHash(parameterToV2(parameter))}`]),
  );
}

function shortHash(value: JsonObject): string {
  return createHash('sha256').update(goJson(value)).digest('base64url').slice(0, 8);
}

function parameterToV2({ name, in: position, description, required, schema }: Parameter): JsonObject {
  return {
    ...(schema as JsonObject), // part of the parameter itself here
    description: description ?? '',
    name,
    in: position ?? '',
    ...(required !== undefined && { required }),
  };
}

/** OpenAPI 2 supports no default values of references, and one type where there are alternatives. */
function toV2(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(toV2);
  if (typeof value !== 'object' || value === null) return value;
  const converted: Record<string, JsonValue> = {};
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'default') continue;
    if (key === 'allOf' || key === 'oneOf') Object.assign(converted, toV2(firstOf(inner)));
    else if (key === '$ref') converted.$ref = String(inner).replace(SCHEMAS_PATH, '#/definitions/');
    else converted[key] = toV2(inner);
  }
  return converted;
}

function firstOf(alternatives: JsonValue): JsonValue {
  return Array.isArray(alternatives) ? (alternatives[0] ?? null) : null;
}
