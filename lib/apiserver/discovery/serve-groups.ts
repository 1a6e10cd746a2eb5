import type { Document } from '#lib/apiserver/encoding/document.ts';
import { encodeDocument } from '#lib/apiserver/encoding/document.ts';
import { goJson } from '#lib/apiserver/encoding/go-json.ts';
import type { ApiContext, Endpoint } from '#lib/apiserver/http/api-context.ts';
import { contentHash } from '#lib/apiserver/http/serve-content.ts';
import { negotiateResponse, writeBody, writeDocument } from '#lib/apiserver/http/write-response.ts';
import { negotiate } from '#lib/apiserver/negotiation/media-type.ts';
import { documentOf } from '#lib/apiserver/objects/message-type.ts';
import type { ApiGroup, ServedResource } from '#lib/apiserver/resources/api-group.ts';
import { AGGREGATED_DISCOVERY, AGGREGATED_ONLY, apiGroupDiscoveryList } from './aggregated-discovery.ts';
import { API_GROUP, API_GROUP_LIST, API_RESOURCE_LIST } from './discovery-types.ts';

/** Serves `/apis`: the list of groups, or with all that is in them where the client knows that form. */
export function serveGroups(groups: readonly ApiGroup[], serverAddress: () => string): Endpoint {
  return (context) => {
    if (negotiate(context.get('Accept'), AGGREGATED_ONLY)?.conversion) serveAggregated(context, groups);
    else writeDocument(context, apiGroupList(groups, serverAddress()));
  };
}

/** The aggregator asks for this again and again with the hash of what it has. */
function serveAggregated(context: ApiContext, groups: readonly ApiGroup[]): void {
  const document = apiGroupDiscoveryList(groups);
  const hash = `"${contentHash(goJson(document.fields()))}"`;
  context.set('ETag', hash);
  context.vary('Accept');
  context.set('Cache-Control', 'public');
  if (context.get('If-None-Match') === hash) {
    context.status = 304;
    return;
  }
  const encoding = negotiateResponse(context, AGGREGATED_ONLY);
  writeBody(context, encodeDocument(document, encoding), encoding.format);
  const { group, version, kind } = AGGREGATED_DISCOVERY;
  context.set('Content-Type', `${context.response.get('Content-Type')};g=${group};v=${version};as=${kind}`);
}

/**
 * The response to `/apis`: every group, and where it is served. Kubernetes leaves out its version, here alone.
 *
 * @param serverAddress host and port; the host may be empty
 */
function apiGroupList(groups: readonly ApiGroup[], serverAddress: string): Document {
  const discovered = groups.map((group) => ({ group, serverAddress }));
  return documentOf(discovered, API_GROUP_LIST, { kind: 'APIGroupList', apiVersion: '' });
}

/** The response to `/apis/GROUP`: its versions. */
export function apiGroup(group: ApiGroup): Document {
  return documentOf({ group }, API_GROUP, { kind: 'APIGroup', apiVersion: 'v1' });
}

/** The response to `/apis/GROUP/VERSION`: its resources. */
export function apiResourceList(groupVersion: string, resources: readonly ServedResource[]): Document {
  const type = { kind: 'APIResourceList', apiVersion: 'v1' };
  return documentOf({ groupVersion, resources }, API_RESOURCE_LIST, type);
}
