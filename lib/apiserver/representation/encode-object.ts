import { type Document, type Encoding, encodeDocument } from '#lib/apiserver/encoding/document.ts';
import type { JsonObject } from '#lib/apiserver/encoding/json.ts';
import { OBJECT_META } from '#lib/apiserver/encoding/object-meta.ts';
import type { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import type { ServedObject } from '#lib/apiserver/resources/served-object.ts';

/** A kind in its API version, as responses begin with it. */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Encodes one object as a whole response. */
export function encodeObject(object: ServedObject, type: TypeMeta, encoding: Encoding): Buffer {
  return encodeDocument(objectDocument(object, type), encoding);
}

/** The object's JSON on one line, without kind and apiVersion. */
export function objectJsonText(object: ServedObject): string {
  return `{${membersText(object)}}`;
}

function membersText(object: ServedObject): string {
  return `"metadata":${OBJECT_META.text(object)},${object.contentType.membersText(object.content)}`;
}

/** Writes the fields of the object's message. */
export function writeObject(message: ProtobufWriter, object: ServedObject): void {
  OBJECT_META.write(message, 1, object);
  object.contentType.writeFields(message, object.content);
}

/** The object as plain JSON, without kind and apiVersion. */
export function objectFields(object: ServedObject): JsonObject {
  return { metadata: OBJECT_META.json(object), ...object.contentType.json(object.content) };
}

/** One object as a whole response, in no encoding yet. */
export function objectDocument(object: ServedObject, type: TypeMeta): Document {
  return {
    ...type,
    fields: () => objectFields(object),
    membersText: () => membersText(object),
    writeFields: (message) => writeObject(message, object),
  };
}
