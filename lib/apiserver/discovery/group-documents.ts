import type { ApiGroup, ServedResource } from '#lib/apiserver/api-group.ts';
import type { Document } from '#lib/apiserver/encoding/document.ts';
import type { JsonObject } from '#lib/apiserver/encoding/json-value.ts';
import type { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';

const ALL_CLIENTS = '0.0.0.0/0';

/**
 * The response to `/apis`: every group, and where it is served.
 *
 * @param serverAddress host and port; the host may be empty
 */
export function apiGroupList(groups: readonly ApiGroup[], serverAddress: string): Document {
  return {
    apiVersion: '', // Kubernetes leaves it out, here alone
    kind: 'APIGroupList',
    fields: () => ({
      groups: groups.map((group) => ({
        ...groupFields(group),
        serverAddressByClientCIDRs: [{ clientCIDR: ALL_CLIENTS, serverAddress }],
      })),
    }),
    writeFields: (message) => {
      for (const group of groups) {
        message.message(1, () => {
          writeGroup(message, group);
          message.message(4, () => {
            message.string(1, ALL_CLIENTS);
            message.string(2, serverAddress);
          });
        });
      }
    },
  };
}

/** The response to `/apis/GROUP`: its versions. */
export function apiGroup(group: ApiGroup): Document {
  return {
    apiVersion: 'v1',
    kind: 'APIGroup',
    fields: () => groupFields(group),
    writeFields: (message) => writeGroup(message, group),
  };
}

/** The response to `/apis/GROUP/VERSION`: its resources. */
export function apiResourceList(groupVersion: string, resources: readonly ServedResource[]): Document {
  return {
    apiVersion: 'v1',
    kind: 'APIResourceList',
    fields: () => ({ groupVersion, resources: resources.map(resourceFields) }),
    writeFields: (message) => {
      message.string(1, groupVersion);
      for (const resource of resources) message.message(2, () => writeResource(message, resource));
    },
  };
}

/** What can be done with a resource. */
export function verbsOf(resource: ServedResource): readonly string[] {
  if (resource.type === 'document') return ['get'];
  return resource.watch ? ['get', 'list', 'watch'] : ['get', 'list'];
}

function groupFields(group: ApiGroup): JsonObject {
  const versions = versionsOf(group);
  return { name: group.name, versions, preferredVersion: versions[0] ?? null };
}

function versionsOf({ name, versions }: ApiGroup): { groupVersion: string; version: string }[] {
  return versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
}

function writeGroup(message: ProtobufWriter, group: ApiGroup): void {
  message.string(1, group.name);
  const versions = versionsOf(group);
  for (const version of versions) message.message(2, () => writeVersion(message, version));
  for (const preferred of versions.slice(0, 1)) message.message(3, () => writeVersion(message, preferred));
}

function writeVersion(
  message: ProtobufWriter,
  { groupVersion, version }: { readonly groupVersion: string; readonly version: string },
): void {
  message.string(1, groupVersion);
  message.string(2, version);
}

function resourceFields(resource: ServedResource): JsonObject {
  const { name, singularName, isNamespaced, kind, shortNames } = resource;
  return {
    name,
    singularName,
    namespaced: isNamespaced,
    kind,
    verbs: verbsOf(resource),
    ...(shortNames && { shortNames }),
  };
}

function writeResource(message: ProtobufWriter, resource: ServedResource): void {
  message.string(1, resource.name);
  message.bool(2, resource.isNamespaced);
  message.string(3, resource.kind);
  message.message(4, () => {
    for (const verb of verbsOf(resource)) message.string(1, verb);
  });
  for (const shortName of resource.shortNames ?? []) message.string(5, shortName);
  message.string(6, resource.singularName);
  message.string(8, ''); // group: that of the list
  message.string(9, ''); // version: that of the list
  message.string(10, ''); // storageVersionHash: nothing is stored
}
