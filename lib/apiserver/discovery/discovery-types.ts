import { absent, field, MessageType } from '#lib/apiserver/encoding/message-type.ts';
import {
  ANY_TEXT,
  kindExtension,
  listOf,
  type Schema,
  type Schemas,
  TYPE_META,
  text,
} from '#lib/apiserver/encoding/schema.ts';
import { FLAG, manyOf, TEXT, type ValueType } from '#lib/apiserver/encoding/value-types.ts';
import type { ApiGroup, ServedResource } from '#lib/apiserver/resources/api-group.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const ATOMIC = { 'x-kubernetes-list-type': 'atomic' };

/** The names of the schemas that discovery responds with. */
export const DISCOVERY_SCHEMA = {
  group: `${META}.APIGroup`,
  groupList: `${META}.APIGroupList`,
  resourceList: `${META}.APIResourceList`,
} as const;

/** A group, and where it is served if that is told. */
export interface DiscoveredGroup {
  readonly group: ApiGroup;
  /** Host and port; the host may be empty. */
  readonly serverAddress?: string;
}

const GROUP_VERSION = new MessageType<string>({
  name: `${META}.GroupVersionForDiscovery`,
  description: 'A version of a group.',
  fields: {
    groupVersion: field(TEXT, {
      number: 1,
      description: 'Group and version, as in metrics.k8s.io/v1beta1.',
      of: (groupVersion) => groupVersion,
    }),
    version: field(TEXT, {
      number: 2,
      description: 'The version alone, as in v1beta1.',
      of: (groupVersion) => groupVersion.slice(groupVersion.indexOf('/') + 1),
    }),
  },
});

const SERVER_ADDRESS = new MessageType<string>({
  name: `${META}.ServerAddressByClientCIDR`,
  description: 'Where clients of a network reach the server.',
  fields: {
    clientCIDR: field(TEXT, {
      number: 1,
      description: 'The network that the clients are in.',
      of: () => '0.0.0.0/0',
    }),
    serverAddress: field(TEXT, {
      number: 2,
      description: 'The address for them: host, or host and port.',
      of: (address) => address,
    }),
  },
});

/** The response to `/apis/GROUP`. */
export const API_GROUP = new MessageType<DiscoveredGroup>({
  name: DISCOVERY_SCHEMA.group,
  description: 'A group of the API, and its versions.',
  ...ofKind('APIGroup'),
  fields: {
    name: field(TEXT, { number: 1, description: 'The name of the group.', of: ({ group }) => group.name }),
    versions: field(manyOf(GROUP_VERSION, ATOMIC), {
      number: 2,
      description: 'Its versions.',
      of: versionsOf,
    }),
    preferredVersion: field(GROUP_VERSION, {
      number: 3,
      description: 'The version to use if there is a choice.',
      isOptional: true,
      of: (discovered) => versionsOf(discovered)[0],
    }),
    serverAddressByClientCIDRs: field(manyOf(SERVER_ADDRESS, ATOMIC), {
      number: 4,
      description: 'Where clients reach the server, by the networks that they are in.',
      isOptional: true,
      of: ({ serverAddress }) => (serverAddress === undefined ? [] : [serverAddress]),
    }),
  },
});

/** The response to `/apis`: every group, and where it is served. */
export const API_GROUP_LIST = new MessageType<readonly DiscoveredGroup[]>({
  name: DISCOVERY_SCHEMA.groupList,
  description: 'The groups of the API.',
  ...ofKind('APIGroupList'),
  fields: {
    groups: field(manyOf(API_GROUP, ATOMIC), {
      number: 1,
      description: 'The groups.',
      of: (groups) => groups,
    }),
  },
});

/** `metav1.Verbs`: a list in JSON, a message of one in protobuf. */
const VERBS: ValueType<readonly string[]> = {
  ...manyOf(TEXT),
  write: (message, number, verbs) =>
    message.message(number, () => {
      for (const verb of verbs) message.string(1, verb);
    }),
};

const API_RESOURCE = new MessageType<ServedResource>({
  name: `${META}.APIResource`,
  description: 'A resource, and what can be done with it.',
  fields: {
    name: field(TEXT, { number: 1, description: 'Its name in paths.', of: ({ name }) => name }),
    singularName: field(TEXT, {
      number: 6,
      description: 'What one of its objects is called.',
      of: ({ singularName }) => singularName,
    }),
    namespaced: field(FLAG, {
      number: 2,
      description: 'Whether its objects are in namespaces.',
      of: ({ isNamespaced }) => isNamespaced,
    }),
    group: absent(8, text('The preferred group of the resource, if it is not that of the list.'), ''),
    version: absent(9, text('The preferred version of the resource, if it is not that of the list.'), ''),
    kind: field(TEXT, { number: 3, description: 'The kind of its objects.', of: ({ kind }) => kind }),
    verbs: field(VERBS, { number: 4, description: 'What can be done with it.', of: verbsOf }),
    shortNames: field(manyOf(TEXT, ATOMIC), {
      number: 5,
      description: 'What it may also be called.',
      isOptional: true,
      of: ({ shortNames = [] }) => shortNames,
    }),
    categories: absent(7, listOf('Groups of resources that it belongs to, such as all.', ANY_TEXT, ATOMIC)),
    storageVersionHash: absent(10, text('Changes with the version that its objects are stored in.'), ''),
  },
});

/** A version of a group, with its resources. */
export interface DiscoveredVersion {
  readonly groupVersion: string;
  readonly resources: readonly ServedResource[];
}

/** The response to `/apis/GROUP/VERSION`. */
export const API_RESOURCE_LIST = new MessageType<DiscoveredVersion>({
  name: DISCOVERY_SCHEMA.resourceList,
  description: 'The resources of a version of a group.',
  ...ofKind('APIResourceList'),
  fields: {
    groupVersion: field(TEXT, {
      number: 1,
      description: 'The group and version that they are in.',
      of: ({ groupVersion }) => groupVersion,
    }),
    resources: field(manyOf(API_RESOURCE, ATOMIC), {
      number: 2,
      description: 'The resources.',
      of: ({ resources }) => resources,
    }),
  },
});

/** The schemas of all of these. */
export const DISCOVERY_SCHEMAS: Schemas = Object.fromEntries(
  [API_GROUP, API_GROUP_LIST, GROUP_VERSION, API_RESOURCE, API_RESOURCE_LIST, SERVER_ADDRESS].flatMap(
    ({ definition }) => Object.entries(definition),
  ),
);

/** What can be done with a resource. */
export function verbsOf(resource: ServedResource): readonly string[] {
  if (resource.type === 'document') return ['get'];
  return resource.watch ? ['get', 'list', 'watch'] : ['get', 'list'];
}

function versionsOf({ group: { name, versions } }: DiscoveredGroup): readonly string[] {
  return versions.map(({ version }) => `${name}/${version}`);
}

function ofKind(kind: string): { readonly properties: Schemas; readonly extensions: Schema } {
  return { properties: TYPE_META, extensions: kindExtension({ group: '', version: 'v1', kind }) };
}
