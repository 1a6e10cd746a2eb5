import type { ApiGroup } from '#lib/apiserver/api-group.ts';
import { encodeDocument } from '#lib/apiserver/encoding/document.ts';
import { goJson } from '#lib/apiserver/encoding/go-json.ts';
import type { ApiContext, Endpoint } from '#lib/apiserver/http/api-context.ts';
import { contentHash } from '#lib/apiserver/http/serve-content.ts';
import { negotiateResponse, writeBody, writeDocument } from '#lib/apiserver/http/write-response.ts';
import { negotiate } from '#lib/apiserver/negotiation/media-type.ts';
import { AGGREGATED_DISCOVERY, AGGREGATED_ONLY, apiGroupDiscoveryList } from './aggregated-discovery.ts';
import { apiGroupList } from './group-documents.ts';

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
