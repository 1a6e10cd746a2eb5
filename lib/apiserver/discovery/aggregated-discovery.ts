import type { Document } from '#lib/apiserver/encoding/document.ts';
import type { Conversion, Restrictions } from '#lib/apiserver/negotiation/media-type.ts';
import { LIST_META } from '#lib/apiserver/objects/list-meta.ts';
import { documentOf, field, MessageType } from '#lib/apiserver/objects/message-type.ts';
import { OBJECT_META } from '#lib/apiserver/objects/object-meta.ts';
import { manyOf, TEXT } from '#lib/apiserver/objects/value-types.ts';
import type { ApiGroup, ApiVersion, ServedResource } from '#lib/apiserver/resources/api-group.ts';
import { verbsOf } from './discovery-types.ts';

/** What a client must ask for to get the discovery of all groups at once, and what it is told that it got. */
export const AGGREGATED_DISCOVERY: Conversion = {
  group: 'apidiscovery.k8s.io',
  version: 'v2',
  kind: 'APIGroupDiscoveryList',
};

/** Nothing but the aggregated form: a client that mentions it anywhere gets it. */
export const AGGREGATED_ONLY: Restrictions = {
  allowsConversion: (_format, conversion) =>
    conversion?.group === AGGREGATED_DISCOVERY.group &&
    conversion.version === AGGREGATED_DISCOVERY.version &&
    conversion.kind === AGGREGATED_DISCOVERY.kind,
};

/** Every group with every version and resource, in one document. */
export function apiGroupDiscoveryList(groups: readonly ApiGroup[]): Document {
  const { group, version, kind } = AGGREGATED_DISCOVERY;
  return documentOf(groups, GROUP_LIST, { kind, apiVersion: `${group}/${version}` });
}

/** Resources by the name before a slash. */
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

/** Group and version are left empty: those of the document's part that this stands in. */
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
