import { encodeDocument } from '#lib/apiserver/encoding/document.ts';
import { wholeDocument } from '#lib/apiserver/encoding/list-document.ts';
import { MEDIA_TYPES, negotiate, STREAM_FORMATS } from '#lib/apiserver/encoding/media-type.ts';
import type { ApiContext, RequestState } from '#lib/apiserver/http/api-context.ts';
import { isTrue } from '#lib/apiserver/http/query-values.ts';
import { NO_SELECTORS } from '#lib/apiserver/http/request-info.ts';
import { MIN_COUNTED_BYTES } from '#lib/apiserver/http/response-body.ts';
import { badRequest, notAcceptable, notFound, notSupported } from '#lib/apiserver/http/status-error.ts';
import { negotiateResponse, writeBody, writeDocument } from '#lib/apiserver/http/write-response.ts';
import { memoizeByObject } from '#lib/cache/memoize.ts';
import type { ObjectKey, ObjectResource, RoutedDocument } from './api-group.ts';
import {
  goTypeName,
  OBJECT_RESTRICTIONS,
  parseIncludeObject,
  partialObjectMetadata,
  type ResourceIdentity,
  tableDocument,
  toMetaConversion,
} from './conversions.ts';
import { blockFormatOf, encodeList } from './encode-list.ts';
import { encodeObject } from './encode-object.ts';
import { type ListOptions, parseListOptions, validateListOptions } from './list-options.ts';
import { buildMatcher, cutPage } from './list-page.ts';
import { countSelected, type Selection, selectInSlices } from './selection.ts';
import { resolveWatchStart } from './watch-rounds.ts';
import { EventEncoder, type WatchServer } from './watch-server.ts';

const ONE = [{ start: 0, end: 1 }];

/** Responds with one object, or with the requested conversion of it. */
export function serveGet(
  context: ApiContext,
  {
    group,
    version,
    resource,
    key,
  }: ResourceIdentity & { readonly resource: ObjectResource; readonly key: ObjectKey },
): Promise<void> | void {
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
    return writeBody(context, encodeObject(object, itemType, representation), format);
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
  return writeBody(context, encodeDocument(document, representation), format);
}

/**
 * Responds with a document that a group routes itself.
 *
 * @throws {StatusError} 400 for a query that no list may have
 */
export function serveDocument(context: ApiContext, document: RoutedDocument): Promise<void> | void {
  const { query: parameters } = context.state;
  const { labelSelector, fieldSelector, isWatch } = optionsOf(parameters);
  return writeDocument(context, document.read({ labelSelector, fieldSelector, isWatch, parameters }));
}

/**
 * Cached by query, which requests for the same URL share: a selector is parsed once, not with every request of an
 * autoscaler.
 */
const optionsOf = memoizeByObject((query: URLSearchParams) => parseListOptions(query));

interface ListTarget extends ResourceIdentity {
  readonly resource: ObjectResource;
  /** `undefined` for all. */
  readonly namespace: string | undefined;
}

/**
 * Parses the options of a list or watch.
 *
 * @throws {StatusError} 400 for options that cannot be parsed, 422 for those that are invalid together
 */
export function listOptionsOf(
  { query, info }: Pick<RequestState, 'query' | 'info'>,
  resource: ObjectResource,
): ListOptions {
  const options = parseListOptions(query, info.isResourceRequest ? info.selectors : NO_SELECTORS);
  validateListOptions(options, { isWatchListEnabled: resource.watch !== undefined });
  return options;
}

/**
 * Responds with the objects that the selectors match, or with the requested conversion of them. The format is
 * negotiated first, so that a request that cannot be served costs nothing.
 */
export async function serveList(
  context: ApiContext,
  { target, options }: { readonly target: ListTarget; readonly options: ListOptions },
): Promise<void> {
  const { resource, namespace } = target;
  const { labelSelector, fieldSelector, limit } = options;
  const { deadline, query, slices } = context.state;
  const representation = negotiateResponse(context, OBJECT_RESTRICTIONS);

  const resourceVersion = resource.watch?.version();
  const blocks = await deadline.wait(resource.list(namespace, slices));
  const requirements = labelSelector.requirements.length + fieldSelector.requirements.length;
  const signal = () => deadline.signal;
  const selecting = { labelSelector, requirements, slices, signal };
  const selected = await selectInSlices(blocks, buildMatcher(options), selecting);
  const page = cutPage(selected, { limit, countsRemaining: requirements === 0 });
  resource.onServed?.(page.selection);
  const format = blockFormatOf(representation);
  if (!format) await reserveEncoded(context, page.selection);

  const list = { ...target, ...page, metadata: { resourceVersion, ...page.metadata } };
  const body = await encodeList(list, representation, { query, signal, slices });
  // A client that reads pages, even of one object, would otherwise have all objects encoded ahead with every snapshot.
  const isPage = page.metadata.continue !== undefined || options.continue !== '';
  const sent =
    format && !isPage && resource.onListed?.({ namespace, format, selection: page.selection, body });
  writeBody(context, sent || body, representation.format);
}

/** Approximate size of an object in a table or in YAML; corrected once the whole is encoded. */
const ESTIMATED_OBJECT_BYTES = 1_024;

/** Waits for the memory that this response alone takes. */
async function reserveEncoded({ state }: ApiContext, selection: Selection): Promise<void> {
  const bytes = countSelected(selection) * ESTIMATED_OBJECT_BYTES;
  if (bytes >= MIN_COUNTED_BYTES) await state.buffered?.reserve(bytes);
}

/** Responds with a stream of changes, if the resource can be watched. */
export function serveWatch(
  context: ApiContext,
  {
    target,
    options,
    watches,
  }: { readonly target: ListTarget; readonly options: ListOptions; readonly watches: WatchServer },
): void {
  const { group, version, resource, namespace } = target;
  negotiateResponse(context, OBJECT_RESTRICTIONS); // the client must also accept the media type of the corresponding list
  const { watch: watchable } = resource;
  if (!watchable) throw notSupported({ group, resource: resource.name }, 'watch');
  const representation = negotiate(context.get('Accept'), OBJECT_RESTRICTIONS, STREAM_FORMATS);
  if (!representation) {
    const accepted = STREAM_FORMATS.map((format) => `${MEDIA_TYPES[format]};stream=watch`).join(', ');
    throw notAcceptable(`only the following media types are accepted: ${accepted}`);
  }
  const { conversion } = representation;
  const format = representation.format === 'protobuf' ? 'protobuf' : 'json';
  const start = resolveWatchStart(watchable, options, namespace);
  watches.serve(context, {
    start,
    subject: {
      watchable,
      namespace,
      isSelected: buildMatcher({ ...options, continue: '' }) ?? (() => true),
      sendsBookmarks: options.allowWatchBookmarks,
    },
    encoder: new EventEncoder({
      format,
      resource,
      itemType: { kind: resource.kind, apiVersion: `${group}/${version}` },
      conversion: conversion && toMetaConversion(conversion),
      include: parseIncludeObject(context.state.query),
    }),
    mediaType: format === 'json' ? MEDIA_TYPES.json : `${MEDIA_TYPES.protobuf};stream=watch`,
    timeoutSeconds: options.timeoutSeconds,
  });
}
