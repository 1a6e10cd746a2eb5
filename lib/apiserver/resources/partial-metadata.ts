import type { Document } from '#lib/apiserver/encoding/document.ts';
import type { JsonObject } from '#lib/apiserver/encoding/json-value.ts';
import { type ListMeta, listMetaJson, writeListMeta } from '#lib/apiserver/encoding/list-meta.ts';
import { objectMetaJson, writeObjectMeta } from '#lib/apiserver/encoding/object-meta.ts';
import type { ServedObject } from '#lib/apiserver/served-object.ts';

/** An object's metadata as an answer of its own. */
export function partialObjectMetadata(object: ServedObject, apiVersion: string): Document {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion,
    fields: () => ({ metadata: objectMetaJson(object) }),
    writeFields: (message) => message.message(1, () => writeObjectMeta(message, object)),
  };
}

/** The metadata of every object of a list. In JSON each tells its kind, in protobuf none does. */
export function partialObjectMetadataList(
  items: readonly ServedObject[],
  { apiVersion, metadata }: { readonly apiVersion: string; readonly metadata: ListMeta },
): Document {
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion,
    fields: () => ({
      metadata: listMetaJson(metadata),
      items: items.map((item) => partialObjectMetadataJson(item, apiVersion)),
    }),
    writeFields: (message) => {
      message.message(1, () => writeListMeta(message, metadata));
      for (const item of items) {
        message.message(2, () => message.message(1, () => writeObjectMeta(message, item)));
      }
    },
  };
}

/** An object's metadata as it stands inside other answers. */
export function partialObjectMetadataJson(object: ServedObject, apiVersion: string): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion, metadata: objectMetaJson(object) };
}
