import type { JsonObject } from '#lib/apiserver/encoding/json.ts';
import { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import {
  each,
  type GnosticField,
  type GnosticMessage,
  named,
  object,
  orReference,
  text,
  truth,
  within,
  writeGnostic,
} from './gnostic.ts';

/**
 * Encodes a document in OpenAPI 2 as gnostic's message `openapi.v2.Document`, as far as our documents go. client-go's
 * `DiscoveryClient.OpenAPISchema` takes it in no other form: kubectl explain and apply ask by it up to 1.26.
 */
export function gnosticV2(document: JsonObject): Buffer {
  const message = new ProtobufWriter();
  writeGnostic(message, DOCUMENT, document);
  return message.finish();
}

const schema = object(() => SCHEMA);

const SCHEMA: GnosticMessage = {
  fields: {
    $ref: text(1),
    format: text(2),
    description: text(4),
    required: each(text(19)),
    additionalProperties: within(21, schema(1)),
    type: within(22, text(1)),
    items: within(23, schema(1)),
    properties: within(25, named(1, schema)),
  },
  extensions: 31,
};

const IN_QUERY: GnosticMessage = {
  fields: {
    required: truth(1),
    in: text(2),
    description: text(3),
    name: text(4),
    type: text(6),
    uniqueItems: truth(20),
  },
};

const IN_PATH: GnosticMessage = {
  fields: { ...IN_QUERY.fields, type: text(5), uniqueItems: truth(19) },
};

/** Of all the places that a parameter can be in these two are the ones that ours are in. */
const parameter = (number: number): GnosticField => {
  const [inQuery, inPath] = [object(() => IN_QUERY)(3), object(() => IN_PATH)(4)];
  return within(
    number,
    within(2, (message, value) => {
      const place = (value as JsonObject).in;
      (place === 'path' ? inPath : inQuery)(message, value);
    }),
  );
};

const RESPONSE: GnosticMessage = { fields: { description: text(1), schema: within(2, schema(1)) } };

const OPERATION: GnosticMessage = {
  fields: {
    tags: each(text(1)),
    description: text(3),
    operationId: text(5),
    produces: each(text(6)),
    consumes: each(text(7)),
    responses: within(9, named(1, orReference(object(() => RESPONSE)))),
    schemes: each(text(10)),
  },
  extensions: 13,
};

const PATH_ITEM: GnosticMessage = {
  fields: { get: object(() => OPERATION)(2), parameters: each(orReference(parameter)(9)) },
};

const DOCUMENT: GnosticMessage = {
  fields: {
    swagger: text(1),
    info: object(() => ({ fields: { title: text(1), version: text(2) } }))(2),
    paths: within(
      8,
      named(
        2,
        object(() => PATH_ITEM),
      ),
    ),
    definitions: within(9, named(1, schema)),
    parameters: within(10, named(1, parameter)),
  },
};
