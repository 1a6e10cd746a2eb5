import type { JsonObject } from '#lib/apiserver/encoding/json.ts';
import { SCHEMAS_PATH } from '#lib/apiserver/encoding/schema.ts';
import { type ApiDocument, referredSchemas } from './api-documents.ts';
import type { Operation } from './operations.ts';

export interface ApiInfo {
  readonly title: string;
  readonly version: string;
}

export function openApiV3({ operations, schemas }: ApiDocument, info: ApiInfo): JsonObject {
  const byPath = operations.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return {
    openapi: '3.0.0',
    info: { title: info.title, version: info.version },
    paths: Object.fromEntries(byPath.map((operation) => [operation.path, pathItem(operation)])),
    components: {
      schemas: referredSchemas(
        operations.map(({ schema }) => schema),
        schemas,
      ),
    },
  };
}

function pathItem({ id, tag, description, produces, schema, parameters, extensions }: Operation): JsonObject {
  const content = { schema: { $ref: SCHEMAS_PATH + schema } };
  return {
    get: {
      tags: [tag],
      description,
      operationId: id,
      responses: {
        '200': {
          description: 'OK',
          content: Object.fromEntries(produces.toSorted().map((mediaType) => [mediaType, content])),
        },
      },
      ...extensions,
    },
    ...(parameters.length > 0 && { parameters }),
  };
}
