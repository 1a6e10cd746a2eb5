import { clausesOf } from './negotiation.ts';
import { groupVersion, RESOURCE_TYPES, type ResourceType } from './resources.ts';

/** An API group that somebody else serves, and what it says it has. */
export interface AggregatedGroup {
  readonly group: string;
  readonly version: string;
  /** `resources` of its APIResourceList; `undefined` while it can't be asked. */
  readonly resources: readonly AggregatedResource[] | undefined;
}

/** The part of `metav1.APIResource` that discovery passes on. */
export interface AggregatedResource {
  readonly name: string;
  readonly singularName?: string;
  readonly namespaced?: boolean;
  readonly kind: string;
  readonly verbs?: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** The media type of a whole discovery document; unlike others it is answered with its parameters. */
export const AGGREGATED_DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Whether a caller would rather have everything in one document (apidiscovery.k8s.io/v2). */
export function wantsAggregatedDiscovery(accept: string | undefined): boolean {
  for (const { type, parameters } of clausesOf(accept ?? '*/*')) {
    if (!['application/json', 'application/*', '*/*'].includes(type)) continue;
    const asked = parameters.get('as');
    if (asked === undefined) return false;
    const isGroupList = asked === 'APIGroupDiscoveryList' && parameters.get('g') === 'apidiscovery.k8s.io';
    if (isGroupList && parameters.get('v') === 'v2') return true;
  }
  return false;
}

/** The answer to `/api`. */
export function apiVersions(serverAddress: string) {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** The answer to `/apis`. */
export function apiGroupList(aggregated: readonly Pick<AggregatedGroup, 'group' | 'version'>[]) {
  const groups = [...ownGroups(), ...aggregated].map(({ group, version }) => apiGroup(group, version));
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

/** One entry of `/apis`; the answer to `/apis/GROUP` has kind and version before it. */
export function apiGroup(group: string, version: string) {
  const entry = { groupVersion: groupVersion({ group, version }), version };
  return { name: group, versions: [entry], preferredVersion: entry };
}

/** @returns the version of a group that is served here, `undefined` for others */
export function ownGroupVersion(group: string): string | undefined {
  return ownGroups().find((own) => own.group === group)?.version;
}

/** The answer to `/api/v1` and `/apis/GROUP/VERSION`; `undefined` when nothing of it is served here. */
export function apiResourceList(group: string, version: string) {
  const types = RESOURCE_TYPES.filter((type) => type.group === group && type.version === version);
  if (types.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: groupVersion({ group, version }),
    resources: types.map(({ resource, singular, isNamespaced, kind, verbs, shortNames, categories }) => ({
      name: resource,
      singularName: singular,
      namespaced: isNamespaced,
      kind,
      verbs,
      ...(shortNames ? { shortNames } : {}),
      ...(categories ? { categories } : {}),
    })),
  };
}

/** The one document for `/api`. */
export function coreDiscovery() {
  return discoveryList([discoveryItem('', 'v1', resourcesOf('', 'v1'))]);
}

/** The one document for `/apis`. */
export function groupDiscovery(aggregated: readonly AggregatedGroup[]) {
  return discoveryList([
    ...ownGroups().map(({ group, version }) => discoveryItem(group, version, resourcesOf(group, version))),
    ...aggregated.map(({ group, version, resources }) =>
      discoveryItem(group, version, resources?.map(discoveryOfAggregated)),
    ),
  ]);
}

function ownGroups() {
  const named = RESOURCE_TYPES.filter(({ group }) => group !== '');
  return [...new Map(named.map(({ group, version }) => [group, { group, version }])).values()];
}

function resourcesOf(group: string, version: string) {
  return RESOURCE_TYPES.filter((type) => type.group === group && type.version === version).map(
    discoveryOfOwn,
  );
}

function discoveryList(items: readonly unknown[]) {
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
}

function discoveryItem(group: string, version: string, resources: readonly unknown[] | undefined) {
  return {
    metadata: group === '' ? {} : { name: group },
    versions: [
      resources === undefined
        ? { version, freshness: 'Stale' }
        : { version, resources, freshness: 'Current' },
    ],
  };
}

function discoveryOfOwn({
  resource,
  kind,
  isNamespaced,
  singular,
  verbs,
  shortNames,
  categories,
}: ResourceType) {
  return {
    resource,
    responseKind: { group: '', version: '', kind },
    scope: isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames ? { shortNames } : {}),
    ...(categories ? { categories } : {}),
  };
}

function discoveryOfAggregated(resource: AggregatedResource) {
  const { name, kind, namespaced = false, singularName = '', verbs = [], shortNames, categories } = resource;
  return {
    resource: name,
    responseKind: { group: '', version: '', kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singularName,
    verbs,
    ...(shortNames ? { shortNames } : {}),
    ...(categories ? { categories } : {}),
  };
}
