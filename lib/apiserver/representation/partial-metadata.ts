import type { Document } from '#lib/apiserver/encoding/document.ts';
import type { JsonObject } from '#lib/apiserver/encoding/json.ts';
import type { ListDocument } from '#lib/apiserver/encoding/list-document.ts';
import { documentOf, field, MessageType } from '#lib/apiserver/encoding/message-type.ts';
import {
  ITEMS_FIELD,
  LIST_META,
  type ListMeta,
  OBJECT_META,
  type ObjectMeta,
} from '#lib/apiserver/encoding/object-meta.ts';
import type { ServedObject } from '#lib/apiserver/resources/served-object.ts';
import type { TypeMeta } from './encode-object.ts';

/** What has nothing but metadata: `metav1.PartialObjectMetadata`, and bookmarks of every kind. */
const METADATA_ALONE = new MessageType<ObjectMeta>({
  fields: { metadata: field(OBJECT_META, { number: 1, of: (object) => object }) },
});

/** A response that is nothing but metadata. */
export function metadataDocument(metadata: ObjectMeta, type: TypeMeta): Document {
  return documentOf(metadata, METADATA_ALONE, type);
}

/** An object's metadata as a response of its own. */
export function partialObjectMetadata(object: ServedObject, apiVersion: string): Document {
  return metadataDocument(object, { kind: 'PartialObjectMetadata', apiVersion });
}

/** The metadata of every object of a list. In JSON each tells its kind, in protobuf none does. */
export function partialObjectMetadataList(
  items: readonly ServedObject[],
  { apiVersion, metadata }: { readonly apiVersion: string; readonly metadata: ListMeta },
): ListDocument<ServedObject> {
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion,
    head: () => ({ metadata: LIST_META.json(metadata) }),
    itemsField: 'items',
    items,
    whenEmpty: [],
    itemFields: (item) => partialObjectMetadataJson(item, apiVersion),
    writeHead: (message) => LIST_META.write(message, 1, metadata),
    writeItem: (message, item) => METADATA_ALONE.write(message, ITEMS_FIELD, item),
  };
}

/** An object's metadata as it stands inside other responses. */
export function partialObjectMetadataJson(object: ServedObject, apiVersion: string): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion, ...METADATA_ALONE.json(object) };
}
