import {
  ANY_TEXT,
  flag,
  kindExtension,
  listOf,
  objectOf,
  reference,
  type Schemas,
  TYPE_META,
  text,
} from '#lib/apiserver/objects/schema.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const ATOMIC = { 'x-kubernetes-list-type': 'atomic' };

/** The names of the schemas that discovery responds with. */
export const DISCOVERY_SCHEMA = {
  group: `${META}.APIGroup`,
  groupList: `${META}.APIGroupList`,
  groupVersion: `${META}.GroupVersionForDiscovery`,
  resource: `${META}.APIResource`,
  resourceList: `${META}.APIResourceList`,
  serverAddress: `${META}.ServerAddressByClientCIDR`,
  versionInfo: 'io.k8s.apimachinery.pkg.version.Info',
} as const;

/** What discovery responds with. */
export const DISCOVERY_SCHEMAS: Schemas = {
  [DISCOVERY_SCHEMA.group]: objectOf('A group of the API, and its versions.', {
    required: ['name', 'versions'],
    properties: {
      ...TYPE_META,
      name: text('The name of the group.'),
      preferredVersion: reference(
        DISCOVERY_SCHEMA.groupVersion,
        'The version to use if there is a choice.',
        {},
      ),
      serverAddressByClientCIDRs: listOf(
        'Where clients reach the server, by the networks that they are in.',
        reference(DISCOVERY_SCHEMA.serverAddress, undefined, {}),
        ATOMIC,
      ),
      versions: listOf('Its versions.', reference(DISCOVERY_SCHEMA.groupVersion, undefined, {}), ATOMIC),
    },
    extensions: kindExtension({ group: '', version: 'v1', kind: 'APIGroup' }),
  }),
  [DISCOVERY_SCHEMA.groupList]: objectOf('The groups of the API.', {
    required: ['groups'],
    properties: {
      ...TYPE_META,
      groups: listOf('The groups.', reference(DISCOVERY_SCHEMA.group, undefined, {}), ATOMIC),
    },
    extensions: kindExtension({ group: '', version: 'v1', kind: 'APIGroupList' }),
  }),
  [DISCOVERY_SCHEMA.groupVersion]: objectOf('A version of a group.', {
    required: ['groupVersion', 'version'],
    properties: {
      groupVersion: text('Group and version, as in metrics.k8s.io/v1beta1.'),
      version: text('The version alone, as in v1beta1.'),
    },
  }),
  [DISCOVERY_SCHEMA.resource]: objectOf('A resource, and what can be done with it.', {
    required: ['name', 'singularName', 'namespaced', 'kind', 'verbs'],
    properties: {
      categories: listOf('Groups of resources that it belongs to, such as all.', ANY_TEXT, ATOMIC),
      group: text('The preferred group of the resource, if it is not that of the list.'),
      kind: text('The kind of its objects.'),
      name: text('Its name in paths.'),
      namespaced: flag('Whether its objects are in namespaces.'),
      shortNames: listOf('What it may also be called.', ANY_TEXT, ATOMIC),
      singularName: text('What one of its objects is called.'),
      storageVersionHash: text('Changes with the version that its objects are stored in.'),
      verbs: listOf('What can be done with it.', ANY_TEXT),
      version: text('The preferred version of the resource, if it is not that of the list.'),
    },
  }),
  [DISCOVERY_SCHEMA.resourceList]: objectOf('The resources of a version of a group.', {
    required: ['groupVersion', 'resources'],
    properties: {
      ...TYPE_META,
      groupVersion: text('The group and version that they are in.'),
      resources: listOf('The resources.', reference(DISCOVERY_SCHEMA.resource, undefined, {}), ATOMIC),
    },
    extensions: kindExtension({ group: '', version: 'v1', kind: 'APIResourceList' }),
  }),
  [DISCOVERY_SCHEMA.serverAddress]: objectOf('Where clients of a network reach the server.', {
    required: ['clientCIDR', 'serverAddress'],
    properties: {
      clientCIDR: text('The network that the clients are in.'),
      serverAddress: text('The address for them: host, or host and port.'),
    },
  }),
  [DISCOVERY_SCHEMA.versionInfo]: objectOf('Which version of the server this is.', {
    required: [
      'major',
      'minor',
      'gitVersion',
      'gitCommit',
      'gitTreeState',
      'buildDate',
      'goVersion',
      'compiler',
      'platform',
    ],
    properties: {
      buildDate: text('When it was built.'),
      compiler: text('What it was built with.'),
      emulationMajor: text('The major version of Kubernetes that it behaves as.'),
      emulationMinor: text('The minor version of Kubernetes that it behaves as.'),
      gitCommit: text('The commit that it was built from.'),
      gitTreeState: text('Whether that commit was changed before it was built.'),
      gitVersion: text('Its version.'),
      goVersion: text('What it runs on.'),
      major: text('The major version of Kubernetes that its API belongs to.'),
      minCompatibilityMajor: text('The major version of Kubernetes that it can work with at least.'),
      minCompatibilityMinor: text('The minor version of Kubernetes that it can work with at least.'),
      minor: text('The minor version of Kubernetes that its API belongs to.'),
      platform: text('The operating system and processor that it runs on.'),
    },
  }),
};
