import type { JsonObject, JsonValue } from '#lib/apiserver/encoding/json.ts';
import type { ListDocument } from '#lib/apiserver/encoding/list-document.ts';
import { LIST_META, type ListMeta } from '#lib/apiserver/encoding/object-meta.ts';
import { badRequest } from '#lib/apiserver/http/status-error.ts';
import type { TableColumn } from '#lib/apiserver/resources/api-group.ts';
import type { ServedObject } from '#lib/apiserver/resources/served-object.ts';
import { goQuote } from '#lib/kubernetes/selectors/go-quote.ts';
import { objectFields, type TypeMeta } from './encode-object.ts';
import { partialObjectMetadataJson } from './partial-metadata.ts';

/** What each row carries of its object. */
export type IncludedObject = '' | 'None' | 'Metadata' | 'Object';

/** What a Table is made of. */
export interface TableContent {
  /** `meta.k8s.io/v1` or `meta.k8s.io/v1beta1` */
  readonly apiVersion: string;
  readonly metadata: ListMeta;
  readonly columns: readonly TableColumn[];
  /** Whether the columns are described: in a watch only at first; by default where there are rows. */
  readonly describesColumns?: boolean;
  readonly items: readonly ServedObject[];
  /** Of the objects themselves. */
  readonly itemType: TypeMeta;
  readonly include: IncludedObject;
}

/**
 * Prints objects as a Table. One without rows has no columns either: the reference tells from the first object which
 * there are.
 */
export function tableDocument(content: TableContent): ListDocument<ServedObject> {
  const { apiVersion, metadata, columns, items, describesColumns = items.length > 0 } = content;
  const refuse = () => {
    throw new Error('Cannot write a Table in protobuf: its cells can hold anything');
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

/** @throws {StatusError} 400 for a word that says nothing about rows */
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
