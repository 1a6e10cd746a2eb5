import type { Document } from '#lib/apiserver/encoding/document.ts';
import type { JsonObject } from '#lib/apiserver/encoding/json-value.ts';
import type { ListDocument } from '#lib/apiserver/encoding/list-document.ts';
import { ITEMS_FIELD, type ListMeta, listMetaJson, writeListMeta } from '#lib/apiserver/objects/list-meta.ts';
import { objectMetaJson, writeObjectMeta } from '#lib/apiserver/objects/object-meta.ts';
import type { ServedObject } from '#lib/apiserver/objects/served-object.ts';

/** An object's metadata as a response of its own. */
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
): ListDocument<ServedObject> {
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion,
    head: () => ({ metadata: listMetaJson(metadata) }),
    itemsField: 'items',
    items,
    whenEmpty: [],
    itemFields: (item) => partialObjectMetadataJson(item, apiVersion),
    writeHead: (message) => message.message(1, () => writeListMeta(message, metadata)),
    writeItem: (message, item) =>
      message.message(ITEMS_FIELD, () => message.message(1, () => writeObjectMeta(message, item))),
  };
}

/** An object's metadata as it stands inside other responses. */
export function partialObjectMetadataJson(object: ServedObject, apiVersion: string): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion, metadata: objectMetaJson(object) };
}
