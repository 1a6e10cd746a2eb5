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
 * Encodes a document in OpenAPI 3 as gnostic's message `openapi.v3.Document`, which is what Kubernetes means by
 * OpenAPI in protobuf. Of its many fields these are the ones that our documents have.
 * client-go 1.24's `GroupVersion.Schema` takes it in no other form.
 */
export function gnosticV3(document: JsonObject): Buffer {
  const message = new ProtobufWriter();
  writeGnostic(message, DOCUMENT, document);
  return message.finish();
}

/** An initial value: a number, a truth value or a text; of an object it is only told that there is one. */
const initialValue: GnosticField = (message, value) => {
  if (typeof value === 'number') message.double(1, value);
  else if (typeof value === 'boolean') message.bool(2, value);
  else if (typeof value === 'string') message.string(3, value);
};

const schema = orReference(object(() => SCHEMA));

const SCHEMA: GnosticMessage = {
  fields: {
    uniqueItems: truth(20),
    required: each(text(23)),
    type: text(25),
    allOf: each(schema(26)),
    oneOf: each(schema(27)),
    items: within(30, schema(1)),
    properties: within(31, named(1, schema)),
    additionalProperties: within(32, schema(1)),
    default: within(33, initialValue),
    description: text(34),
    format: text(35),
  },
  extensions: 36,
};

const PARAMETER: GnosticMessage = {
  fields: { name: text(1), in: text(2), description: text(3), required: truth(4), schema: schema(10) },
};

const MEDIA_TYPE: GnosticMessage = { fields: { schema: schema(1) } };

const RESPONSE: GnosticMessage = {
  fields: {
    description: text(1),
    content: within(
      3,
      named(
        1,
        object(() => MEDIA_TYPE),
      ),
    ),
  },
};

const OPERATION: GnosticMessage = {
  fields: {
    tags: each(text(1)),
    description: text(3),
    operationId: text(5),
    responses: within(8, named(2, orReference(object(() => RESPONSE)))),
  },
  extensions: 13,
};

const PATH_ITEM: GnosticMessage = {
  fields: { get: object(() => OPERATION)(4), parameters: each(orReference(object(() => PARAMETER))(13)) },
};

const DOCUMENT: GnosticMessage = {
  fields: {
    openapi: text(1),
    info: object(() => ({ fields: { title: text(1), version: text(6) } }))(2),
    paths: within(
      4,
      named(
        1,
        object(() => PATH_ITEM),
      ),
    ),
    components: object(() => ({ fields: { schemas: within(1, named(1, schema)) } }))(5),
  },
};
