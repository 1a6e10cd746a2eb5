import type { ListDocument } from '#lib/apiserver/encoding/list-document.ts';
import type { ListMeta } from '#lib/apiserver/encoding/object-meta.ts';
import { notAcceptable } from '#lib/apiserver/http/status-error.ts';
import type { ObjectResource } from '#lib/apiserver/resources/api-group.ts';
import type { ServedObject } from '#lib/apiserver/resources/served-object.ts';
import { goTypeName, type MetaConversion, type ResourceIdentity } from './conversion.ts';
import { partialObjectMetadataList } from './partial-metadata.ts';
import { parseIncludeObject, tableDocument } from './table-document.ts';

/** What is converted. */
export interface ConvertedList extends ResourceIdentity {
  readonly resource: Pick<ObjectResource, 'kind' | 'listKind' | 'columns'>;
  readonly metadata: ListMeta;
  readonly items: readonly ServedObject[];
}

/**
 * Makes of a list what the client asked for instead.
 *
 * @param query says what the rows of a Table carry
 * @throws {StatusError} 406 for what a list cannot become, 400 for a query that says nothing about rows
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
