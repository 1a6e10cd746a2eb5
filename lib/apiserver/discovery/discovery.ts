import { type Document, encodeDocument } from '#lib/apiserver/encoding/document.ts';
import { goJson } from '#lib/apiserver/encoding/json.ts';
import { type Conversion, negotiate, type Restrictions } from '#lib/apiserver/encoding/media-type.ts';
import { documentOf, field, MessageType } from '#lib/apiserver/encoding/message-type.ts';
import { LIST_META, OBJECT_META } from '#lib/apiserver/encoding/object-meta.ts';
import { manyOf, TEXT } from '#lib/apiserver/encoding/value-types.ts';
import type { ApiContext, Endpoint } from '#lib/apiserver/http/api-context.ts';
import {
  contentHash,
  negotiateResponse,
  writeBody,
  writeDocument,
} from '#lib/apiserver/http/write-response.ts';
import type { ApiGroup, ApiVersion, ServedResource } from '#lib/apiserver/resources/api-group.ts';
import { API_GROUP, API_GROUP_LIST, API_RESOURCE_LIST, verbsOf } from './discovery-types.ts';

/** Serves `/apis`: the list of groups, or aggregated discovery where the client accepts it. */
export function serveGroups(groups: readonly ApiGroup[], serverAddress: () => string): Endpoint {
  return (context) => {
    if (negotiate(context.get('Accept'), AGGREGATED_ONLY)?.conversion)
      return serveAggregated(context, groups);
    return writeDocument(context, apiGroupList(groups, serverAddress()));
  };
}

/** The aggregator polls this with the hash of its copy. */
async function serveAggregated(context: ApiContext, groups: readonly ApiGroup[]): Promise<void> {
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
  await writeBody(context, encodeDocument(document, encoding), encoding.format);
  const { group, version, kind } = AGGREGATED_DISCOVERY;
  context.set('Content-Type', `${context.response.get('Content-Type')};g=${group};v=${version};as=${kind}`);
}

/**
 * The response to `/apis`. Kubernetes leaves out its `apiVersion`, here alone.
 *
 * @param serverAddress host and port; the host may be empty
 */
function apiGroupList(groups: readonly ApiGroup[], serverAddress: string): Document {
  const discovered = groups.map((group) => ({ group, serverAddress }));
  return documentOf(discovered, API_GROUP_LIST, { kind: 'APIGroupList', apiVersion: '' });
}

/** The response to `/apis/GROUP`. */
export function apiGroup(group: ApiGroup): Document {
  return documentOf({ group }, API_GROUP, { kind: 'APIGroup', apiVersion: 'v1' });
}

/** The response to `/apis/GROUP/VERSION`. */
export function apiResourceList(groupVersion: string, resources: readonly ServedResource[]): Document {
  const type = { kind: 'APIResourceList', apiVersion: 'v1' };
  return documentOf({ groupVersion, resources }, API_RESOURCE_LIST, type);
}

/** The conversion by which a client requests aggregated discovery, and the type of its response. */
const AGGREGATED_DISCOVERY: Conversion = {
  group: 'apidiscovery.k8s.io',
  version: 'v2',
  kind: 'APIGroupDiscoveryList',
};

/** Allows the aggregated form alone: a client that mentions it anywhere gets it. */
const AGGREGATED_ONLY: Restrictions = {
  allowsConversion: (_format, conversion) =>
    conversion?.group === AGGREGATED_DISCOVERY.group &&
    conversion.version === AGGREGATED_DISCOVERY.version &&
    conversion.kind === AGGREGATED_DISCOVERY.kind,
};

/** Aggregated discovery: every group with every version and resource. */
export function apiGroupDiscoveryList(groups: readonly ApiGroup[]): Document {
  const { group, version, kind } = AGGREGATED_DISCOVERY;
  return documentOf(groups, GROUP_LIST, { kind, apiVersion: `${group}/${version}` });
}

/** Resources by the part of their names before a slash. */
interface Nested {
  readonly name: string;
  /** `undefined` where only its subresources are served. */
  readonly resource: ServedResource | undefined;
  readonly subresources: readonly ServedResource[];
}

function nested(resources: readonly ServedResource[]): readonly Nested[] {
  const byName = Map.groupBy(resources, ({ name }) => name.split('/', 1)[0] ?? '');
  return [...byName].map(([name, all]) => ({
    name,
    resource: all.find((one) => one.name === name),
    subresources: all.filter((one) => one.name !== name),
  }));
}

/** Group and version are empty: those of the enclosing part of the document count. */
const RESPONSE_KIND = new MessageType<ServedResource>({
  fields: {
    group: field(TEXT, { number: 1, of: () => '' }),
    version: field(TEXT, { number: 2, of: () => '' }),
    kind: field(TEXT, { number: 3, of: ({ kind }) => kind }),
  },
});

const SUBRESOURCE = new MessageType<ServedResource>({
  fields: {
    subresource: field(TEXT, { number: 1, of: ({ name }) => name.slice(name.indexOf('/') + 1) }),
    responseKind: field(RESPONSE_KIND, { number: 2, of: (resource) => resource }),
    verbs: field(manyOf(TEXT), { number: 4, of: verbsOf }),
  },
});

const RESOURCE = new MessageType<Nested>({
  fields: {
    resource: field(TEXT, { number: 1, of: ({ name }) => name }),
    responseKind: field(RESPONSE_KIND, { number: 2, isOptional: true, of: ({ resource }) => resource }),
    scope: field(TEXT, {
      number: 3,
      of: ({ resource, subresources: [first] }) =>
        (resource ?? first)?.isNamespaced ? 'Namespaced' : 'Cluster',
    }),
    singularResource: field(TEXT, { number: 4, of: ({ resource }) => resource?.singularName ?? '' }),
    verbs: field(manyOf(TEXT), { number: 5, of: ({ resource }) => (resource ? verbsOf(resource) : []) }),
    shortNames: field(manyOf(TEXT), {
      number: 6,
      isOptional: true,
      of: ({ resource }) => resource?.shortNames,
    }),
    subresources: field(manyOf(SUBRESOURCE), {
      number: 8,
      isOptional: true,
      of: ({ subresources }) => subresources,
    }),
  },
});

const VERSION = new MessageType<ApiVersion>({
  fields: {
    version: field(TEXT, { number: 1, of: ({ version }) => version }),
    resources: field(manyOf(RESOURCE), { number: 2, of: (version) => nested(version.resources()) }),
    freshness: field(TEXT, { number: 3, of: () => 'Current' }),
  },
});

const GROUP = new MessageType<ApiGroup>({
  fields: {
    metadata: field(OBJECT_META, { number: 1, of: ({ name }) => ({ name, creationTimestampMs: null }) }),
    versions: field(manyOf(VERSION), { number: 2, of: ({ versions }) => versions }),
  },
});

const GROUP_LIST = new MessageType<readonly ApiGroup[]>({
  fields: {
    metadata: field(LIST_META, { number: 1, of: () => ({}) }),
    items: field(manyOf(GROUP), { number: 2, of: (groups) => groups }),
  },
});
