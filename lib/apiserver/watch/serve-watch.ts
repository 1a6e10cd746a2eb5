import { MEDIA_TYPES, negotiate, STREAM_FORMATS } from '#lib/apiserver/encoding/media-type.ts';
import type { ApiContext } from '#lib/apiserver/http/api-context.ts';
import { notAcceptable, notSupported } from '#lib/apiserver/http/status-error.ts';
import { negotiateResponse } from '#lib/apiserver/http/write-response.ts';
import {
  OBJECT_RESTRICTIONS,
  parseIncludeObject,
  toMetaConversion,
} from '#lib/apiserver/resources/conversions.ts';
import type { ListOptions } from '#lib/apiserver/resources/list-options.ts';
import type { ListTarget } from '#lib/apiserver/resources/serve-list.ts';
import { wantedBy } from '#lib/apiserver/resources/wanted-objects.ts';
import { EventEncoder } from './event-encoder.ts';
import type { WatchServer } from './watch-server.ts';
import { startOfWatch } from './watch-start.ts';

/** Responds with a stream of what changes, if the resource can be watched. */
export function serveWatch(
  context: ApiContext,
  {
    target,
    options,
    watches,
  }: { readonly target: ListTarget; readonly options: ListOptions; readonly watches: WatchServer },
): void {
  const { group, version, resource, namespace } = target;
  negotiateResponse(context, OBJECT_RESTRICTIONS); // the list that there is behind every watch must be acceptable, too
  const { watch: watchable } = resource;
  if (!watchable) throw notSupported({ group, resource: resource.name }, 'watch');
  const representation = negotiate(context.get('Accept'), OBJECT_RESTRICTIONS, STREAM_FORMATS);
  if (!representation) {
    const accepted = STREAM_FORMATS.map((format) => `${MEDIA_TYPES[format]};stream=watch`).join(', ');
    throw notAcceptable(`only the following media types are accepted: ${accepted}`);
  }
  const { conversion } = representation;
  const format = representation.format === 'protobuf' ? 'protobuf' : 'json';
  const start = startOfWatch(watchable, options, namespace);
  watches.serve(context, {
    start,
    subject: {
      watchable,
      namespace,
      isWanted: wantedBy({ ...options, continue: '' }) ?? (() => true),
      sendsBookmarks: options.allowWatchBookmarks,
    },
    encoder: new EventEncoder({
      format,
      resource,
      itemType: { kind: resource.kind, apiVersion: `${group}/${version}` },
      asked: conversion && toMetaConversion(conversion),
      include: parseIncludeObject(context.state.query),
    }),
    mediaType: format === 'json' ? MEDIA_TYPES.json : `${MEDIA_TYPES.protobuf};stream=watch`,
    timeoutSeconds: options.timeoutSeconds,
  });
}
