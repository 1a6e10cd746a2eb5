import type { Document } from '#lib/apiserver/encoding/document.ts';
import type { JsonObject, JsonValue } from '#lib/apiserver/encoding/json.ts';
import type { ListDocument } from '#lib/apiserver/encoding/list-document.ts';
import type { Conversion, Restrictions } from '#lib/apiserver/encoding/media-type.ts';
import { documentOf, field, MessageType } from '#lib/apiserver/encoding/message-type.ts';
import {
  ITEMS_FIELD,
  LIST_META,
  type ListMeta,
  OBJECT_META,
  type ObjectMeta,
} from '#lib/apiserver/encoding/object-meta.ts';
import { badRequest, notAcceptable } from '#lib/apiserver/http/status-error.ts';
import { goQuote } from '#lib/kubernetes/selectors/go-quote.ts';
import type { ObjectResource, TableColumn } from './api-group.ts';
import { objectFields, type TypeMeta } from './encode-object.ts';
import type { ServedObject } from './served-object.ts';

const META_GROUP = 'meta.k8s.io';
const META_VERSIONS = ['v1', 'v1beta1'];
const CONVERSIONS = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'] as const;

/** A kind of `meta.k8s.io` that a client may request instead of the resource's own. */
export interface MetaConversion {
  readonly kind: (typeof CONVERSIONS)[number];
  /** `meta.k8s.io/v1` or `meta.k8s.io/v1beta1` */
  readonly apiVersion: string;
}

/** Conversions of a get and a list; a Table has no protobuf. */
export const OBJECT_RESTRICTIONS: Restrictions = {
  allowsConversion: (format, conversion) =>
    !conversion ||
    (toMetaConversion(conversion)?.kind === 'Table' ? format !== 'protobuf' : isMeta(conversion)),
  allowsServerVersion: (version) => version === 'v1',
};

/** @returns `undefined` for what no object can be converted to */
export function toMetaConversion({ group, version, kind }: Conversion): MetaConversion | undefined {
  const supported = CONVERSIONS.find((one) => one === kind);
  if (!supported || group !== META_GROUP || !META_VERSIONS.includes(version)) return undefined;
  return { kind: supported, apiVersion: `${group}/${version}` };
}

function isMeta(conversion: Conversion): boolean {
  return toMetaConversion(conversion) !== undefined;
}

/** Group, version and resource of objects. */
export interface ResourceIdentity {
  readonly group: string;
  readonly version: string;
}

/** Kubernetes' servers name a type in messages by the Go package that is named for the group. */
export function goTypeName(group: string, kind: string): string {
  return `*${group.split('.')[0]}.${kind}`;
}

/** Input of a conversion. */
interface ConvertedList extends ResourceIdentity {
  readonly resource: Pick<ObjectResource, 'kind' | 'listKind' | 'columns'>;
  readonly metadata: ListMeta;
  readonly items: readonly ServedObject[];
}

/**
 * Converts a list to what the client requested.
 *
 * @param query determines what the rows of a Table include
 * @throws {StatusError} 406 for an unsupported conversion, 400 for an invalid query
 */
export function convertList(
  { resource, group, version, metadata, items }: ConvertedList,
  { kind, apiVersion }: MetaConversion,
  query: URLSearchParams,
): ListDocument<ServedObject> {
  switch (kind) {
    case 'PartialObjectMetadata': {
      const type = goTypeName(group, resource.listKind);
      throw notAcceptable(`you requested ${kind}, but the requested object is a list (${type})`);
    }
    case 'PartialObjectMetadataList':
      return partialObjectMetadataList(items, { apiVersion, metadata });
    default:
      return tableDocument({
        apiVersion,
        metadata,
        columns: resource.columns,
        items,
        itemType: { kind: resource.kind, apiVersion: `${group}/${version}` },
        include: parseIncludeObject(query),
      });
  }
}

/** A type with metadata alone: `metav1.PartialObjectMetadata`, and bookmarks of every kind. */
const METADATA_ALONE = new MessageType<ObjectMeta>({
  fields: { metadata: field(OBJECT_META, { number: 1, of: (object) => object }) },
});

/** A response with metadata alone. */
export function metadataDocument(metadata: ObjectMeta, type: TypeMeta): Document {
  return documentOf(metadata, METADATA_ALONE, type);
}

/** An object's metadata as a response. */
export function partialObjectMetadata(object: ServedObject, apiVersion: string): Document {
  return metadataDocument(object, { kind: 'PartialObjectMetadata', apiVersion });
}

/** The metadata of every object of a list. In JSON each has its kind, in protobuf none does. */
function partialObjectMetadataList(
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

/** An object's metadata as a part of other responses. */
function partialObjectMetadataJson(object: ServedObject, apiVersion: string): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion, ...METADATA_ALONE.json(object) };
}

/** What each row includes of its object. */
export type IncludedObject = '' | 'None' | 'Metadata' | 'Object';

/** Input of a Table. */
interface TableContent {
  /** `meta.k8s.io/v1` or `meta.k8s.io/v1beta1` */
  readonly apiVersion: string;
  readonly metadata: ListMeta;
  readonly columns: readonly TableColumn[];
  /** Whether columns are described: in a watch only at first; by default where there are rows. */
  readonly describesColumns?: boolean;
  readonly items: readonly ServedObject[];
  /** Type of the objects themselves. */
  readonly itemType: TypeMeta;
  readonly include: IncludedObject;
}

/**
 * Prints objects as a Table. One without rows has no columns either: the reference derives columns from the first
 * object.
 */
export function tableDocument(content: TableContent): ListDocument<ServedObject> {
  const { apiVersion, metadata, columns, items, describesColumns = items.length > 0 } = content;
  const refuse = () => {
    throw new Error('Cannot encode a Table in protobuf: its cells may have any type');
  };
  return {
    kind: 'Table',
    apiVersion,
    head: () => ({
      metadata: LIST_META.json(metadata),
      columnDefinitions: describesColumns ? columns.map(definition) : null,
    }),
    itemsField: 'rows',
    items,
    whenEmpty: null,
    itemFields: (item) => tableRow(item, content),
    writeHead: refuse,
    writeItem: refuse,
  };
}

/** @throws {StatusError} 400 for an unknown value */
export function parseIncludeObject(query: URLSearchParams): IncludedObject {
  const text = query.get('includeObject') ?? '';
  if (text === '' || text === 'None' || text === 'Metadata' || text === 'Object') return text;
  const rule = "must be 'Metadata', 'Object', 'None', or empty";
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${goQuote(text)}: ${rule}`,
  );
}

function definition({ name, type, format, description, priority }: TableColumn): JsonObject {
  return { name, type, format, description, priority };
}

function tableRow(item: ServedObject, content: TableContent): JsonObject {
  return { cells: content.columns.map((column) => column.cell(item)), object: rowObject(item, content) };
}

function rowObject(item: ServedObject, { include, apiVersion, itemType }: TableContent): JsonValue {
  if (include === 'None') return null;
  if (include === 'Object') {
    return { kind: itemType.kind, apiVersion: itemType.apiVersion, ...objectFields(item) };
  }
  return partialObjectMetadataJson(item, apiVersion);
}
