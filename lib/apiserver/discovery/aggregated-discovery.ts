import type { ApiGroup, ServedResource } from '#lib/apiserver/api-group.ts';
import type { Document } from '#lib/apiserver/encoding/document.ts';
import type { JsonObject } from '#lib/apiserver/encoding/json-value.ts';
import type { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import type { Conversion, Restrictions } from '#lib/apiserver/negotiation/media-type.ts';
import { writeListMeta } from '#lib/apiserver/objects/list-meta.ts';
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
  return {
    apiVersion: `${group}/${version}`,
    kind,
    fields: () => ({ metadata: {}, items: groups.map(groupFields) }),
    writeFields: (message) => {
      message.message(1, () => writeListMeta(message, {}));
      for (const one of groups) message.message(2, () => writeGroup(message, one));
    },
  };
}

/** The resources by the names before a slash, each with those behind it. */
function nested(resources: readonly ServedResource[]): readonly Nested[] {
  const byName = Map.groupBy(resources, ({ name }) => name.split('/', 1)[0] ?? '');
  return [...byName].map(([name, all]) => ({
    name,
    resource: all.find((one) => one.name === name),
    subresources: all.filter((one) => one.name !== name),
  }));
}

interface Nested {
  readonly name: string;
  /** `undefined` where only its subresources are served. */
  readonly resource: ServedResource | undefined;
  readonly subresources: readonly ServedResource[];
}

function groupFields({ name, versions }: ApiGroup): JsonObject {
  return {
    metadata: { name, creationTimestamp: null },
    versions: versions.map((version) => ({
      version: version.version,
      resources: nested(version.resources()).map(resourceFields),
      freshness: 'Current',
    })),
  };
}

function resourceFields({ name, resource, subresources }: Nested): JsonObject {
  const any = resource ?? subresources[0];
  return {
    resource: name,
    ...(resource && { responseKind: kindFields(resource) }),
    scope: any?.isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource?.singularName ?? '',
    verbs: resource ? verbsOf(resource) : [],
    ...(resource?.shortNames && { shortNames: resource.shortNames }),
    ...(subresources.length > 0 && { subresources: subresources.map(subresourceFields) }),
  };
}

function subresourceFields(resource: ServedResource): JsonObject {
  return {
    subresource: subresourceName(resource),
    responseKind: kindFields(resource),
    verbs: verbsOf(resource),
  };
}

/** Group and version are left empty: those of the document's part that this stands in. */
function kindFields({ kind }: ServedResource): JsonObject {
  return { group: '', version: '', kind };
}

function writeGroup(message: ProtobufWriter, { name, versions }: ApiGroup): void {
  message.message(1, () => writeNameOnly(message, name));
  for (const version of versions) {
    message.message(2, () => {
      message.string(1, version.version);
      for (const one of nested(version.resources())) message.message(2, () => writeResource(message, one));
      message.string(3, 'Current');
    });
  }
}

/** An `ObjectMeta` of a name and nothing else: its time of creation is an empty message. */
function writeNameOnly(message: ProtobufWriter, name: string): void {
  message.string(1, name);
  for (const field of [2, 3, 4, 5, 6]) message.string(field, '');
  message.uint(7, 0);
  message.message(8, () => {});
}

function writeResource(message: ProtobufWriter, { name, resource, subresources }: Nested): void {
  message.string(1, name);
  if (resource) message.message(2, () => writeKind(message, resource));
  message.string(3, (resource ?? subresources[0])?.isNamespaced ? 'Namespaced' : 'Cluster');
  message.string(4, resource?.singularName ?? '');
  for (const verb of resource ? verbsOf(resource) : []) message.string(5, verb);
  for (const shortName of resource?.shortNames ?? []) message.string(6, shortName);
  for (const subresource of subresources) {
    message.message(8, () => {
      message.string(1, subresourceName(subresource));
      message.message(2, () => writeKind(message, subresource));
      for (const verb of verbsOf(subresource)) message.string(4, verb);
    });
  }
}

function writeKind(message: ProtobufWriter, { kind }: ServedResource): void {
  message.string(1, '');
  message.string(2, '');
  message.string(3, kind);
}

function subresourceName({ name }: ServedResource): string {
  return name.slice(name.indexOf('/') + 1);
}
