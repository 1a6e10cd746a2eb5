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

/** Names of the schemas of discovery. */
export const DISCOVERY_SCHEMA = {
  group: `${META}.APIGroup`,
  groupList: `${META}.APIGroupList`,
  resourceList: `${META}.APIResourceList`,
} as const;

/** A group, and where it is served if discovery names that. */
interface DiscoveredGroup {
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
      description: 'The version, as in v1beta1.',
      of: (groupVersion) => groupVersion.slice(groupVersion.indexOf('/') + 1),
    }),
  },
});

const SERVER_ADDRESS = new MessageType<string>({
  name: `${META}.ServerAddressByClientCIDR`,
  description: 'The address of the server for clients in one network.',
  fields: {
    clientCIDR: field(TEXT, {
      number: 1,
      description: 'The network of the clients, in CIDR notation.',
      of: () => '0.0.0.0/0',
    }),
    serverAddress: field(TEXT, {
      number: 2,
      description: 'The address for these clients: host, or host and port.',
      of: (address) => address,
    }),
  },
});

/** The response to `/apis/GROUP`. */
export const API_GROUP = new MessageType<DiscoveredGroup>({
  name: DISCOVERY_SCHEMA.group,
  description: 'An API group and its versions.',
  ...ofKind('APIGroup'),
  fields: {
    name: field(TEXT, { number: 1, description: 'The name of the group.', of: ({ group }) => group.name }),
    versions: field(manyOf(GROUP_VERSION, ATOMIC), {
      number: 2,
      description: 'The versions of the group.',
      of: versionsOf,
    }),
    preferredVersion: field(GROUP_VERSION, {
      number: 3,
      description: 'The preferred version of the group.',
      isOptional: true,
      of: (discovered) => versionsOf(discovered)[0],
    }),
    serverAddressByClientCIDRs: field(manyOf(SERVER_ADDRESS, ATOMIC), {
      number: 4,
      description: 'Addresses of the server, by the network of the client.',
      isOptional: true,
      of: ({ serverAddress }) => (serverAddress === undefined ? [] : [serverAddress]),
    }),
  },
});

/** The response to `/apis`: every group, with the address of its server. */
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
  description: 'A resource and its verbs.',
  fields: {
    name: field(TEXT, {
      number: 1,
      description: 'The plural name of the resource, as in paths.',
      of: ({ name }) => name,
    }),
    singularName: field(TEXT, {
      number: 6,
      description: 'The singular name of the resource.',
      of: ({ singularName }) => singularName,
    }),
    namespaced: field(FLAG, {
      number: 2,
      description: 'Whether the resource is namespaced.',
      of: ({ isNamespaced }) => isNamespaced,
    }),
    group: absent(8, text('The preferred group of the resource. If empty, it is the group of the list.'), ''),
    version: absent(
      9,
      text('The preferred version of the resource. If empty, it is the version of the list.'),
      '',
    ),
    kind: field(TEXT, {
      number: 3,
      description: 'The kind of the objects of the resource.',
      of: ({ kind }) => kind,
    }),
    verbs: field(VERBS, { number: 4, description: 'The supported verbs.', of: verbsOf }),
    shortNames: field(manyOf(TEXT, ATOMIC), {
      number: 5,
      description: 'Short names of the resource.',
      isOptional: true,
      of: ({ shortNames = [] }) => shortNames,
    }),
    categories: absent(7, listOf('Categories that the resource belongs to, such as all.', ANY_TEXT, ATOMIC)),
    storageVersionHash: absent(10, text('A hash of the version that objects are stored in.'), ''),
  },
});

/** A version of a group, with its resources. */
interface DiscoveredVersion {
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
      description: 'The group and version of the resources.',
      of: ({ groupVersion }) => groupVersion,
    }),
    resources: field(manyOf(API_RESOURCE, ATOMIC), {
      number: 2,
      description: 'The resources.',
      of: ({ resources }) => resources,
    }),
  },
});

export const DISCOVERY_SCHEMAS: Schemas = Object.fromEntries(
  [API_GROUP, API_GROUP_LIST, GROUP_VERSION, API_RESOURCE, API_RESOURCE_LIST, SERVER_ADDRESS].flatMap(
    ({ definition }) => Object.entries(definition),
  ),
);

/** Verbs that a resource supports. */
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
