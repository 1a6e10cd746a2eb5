import { encodeDocument } from '#lib/apiserver/encoding/document.ts';
import { wholeDocument } from '#lib/apiserver/encoding/list-document.ts';
import type { ApiContext } from '#lib/apiserver/http/api-context.ts';
import { isTrue } from '#lib/apiserver/http/query-values.ts';
import { badRequest, notAcceptable, notFound } from '#lib/apiserver/http/status-error.ts';
import { negotiateResponse, writeBody } from '#lib/apiserver/http/write-response.ts';
import type { ObjectKey, ObjectResource } from './api-group.ts';
import {
  goTypeName,
  OBJECT_RESTRICTIONS,
  parseIncludeObject,
  partialObjectMetadata,
  type ResourceIdentity,
  tableDocument,
  toMetaConversion,
} from './conversions.ts';
import { encodeObject } from './encode-object.ts';

const ONE = [{ start: 0, end: 1 }];

/** Responds with one object, or with what the client wants made of it. */
export function serveGet(
  context: ApiContext,
  {
    group,
    version,
    resource,
    key,
  }: ResourceIdentity & { readonly resource: ObjectResource; readonly key: ObjectKey },
): void {
  const { query } = context.state;
  const representation = negotiateResponse(context, OBJECT_RESTRICTIONS);
  if (query.has('export') && isTrue(query.get('export'))) {
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported');
  }
  const object = resource.get(key);
  if (!object) throw notFound({ group, resource: resource.name }, key.name);
  resource.onServed?.([{ block: [object], ranges: ONE }]);
  const { format, conversion } = representation;
  const itemType = { kind: resource.kind, apiVersion: `${group}/${version}` };
  const target = conversion && toMetaConversion(conversion);
  if (!target) {
    writeBody(context, encodeObject(object, itemType, representation), format);
    return;
  }
  const { apiVersion } = target;
  if (target.kind === 'PartialObjectMetadataList') {
    const type = goTypeName(group, resource.kind);
    throw notAcceptable(`you requested ${target.kind}, but the requested object is not a list (${type})`);
  }
  const document =
    target.kind === 'PartialObjectMetadata'
      ? partialObjectMetadata(object, apiVersion)
      : wholeDocument(
          tableDocument({
            apiVersion,
            metadata: { resourceVersion: object.resourceVersion },
            columns: resource.columns,
            items: [object],
            itemType,
            include: parseIncludeObject(query),
          }),
        );
  writeBody(context, encodeDocument(document, representation), format);
}
