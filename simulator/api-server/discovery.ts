import {
  compareVersions,
  groupVersion,
  type ResourceRegistry,
  type ResourceType,
} from '../resources/resource-type.ts';
import type { AggregatedGroup, AggregatedResource } from './aggregator.ts';
import { clausesOf } from './representation.ts';

type Registry = Pick<ResourceRegistry, 'all'>;

/** The media type of aggregated discovery; unlike others, it is returned with its parameters. */
export const AGGREGATED_DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Whether a caller prefers aggregated discovery (apidiscovery.k8s.io/v2). */
export function wantsAggregatedDiscovery(accept: string | undefined): boolean {
  for (const { type, parameters } of clausesOf(accept ?? '*/*')) {
    if (!['application/json', 'application/*', '*/*'].includes(type)) continue;
    const requested = parameters.get('as');
    if (requested === undefined) return false;
    const isGroupList =
      requested === 'APIGroupDiscoveryList' && parameters.get('g') === 'apidiscovery.k8s.io';
    if (isGroupList && parameters.get('v') === 'v2') return true;
  }
  return false;
}

/** The response to `/api`. */
export function apiVersions(serverAddress: string) {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** The response to `/apis`. */
export function apiGroupList(
  registry: Registry,
  aggregated: readonly Pick<AggregatedGroup, 'group' | 'version'>[],
) {
  const own = [...ownGroups(registry)].map(([group, versions]) => apiGroup(group, versions));
  const others = [...byGroup(aggregated)].map(([group, all]) =>
    apiGroup(
      group,
      all.map(({ version }) => version),
    ),
  );
  const groups = [...own, ...others];
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

/**
 * One entry of `/apis`; the response to `/apis/GROUP` has kind and version in addition. The first version is preferred.
 */
export function apiGroup(group: string, versions: readonly string[]) {
  const entries = versions.map((version) => ({ groupVersion: groupVersion({ group, version }), version }));
  return { name: group, versions: entries, preferredVersion: entries[0] };
}

/** The versions of each named group of this server, the preferred first. */
export function ownGroups(registry: Registry): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  const types = registry.all().filter(({ group }) => group !== '');
  for (const { group, version } of types) {
    const versions = groups.get(group) ?? [];
    if (!versions.includes(version)) groups.set(group, [...versions, version]);
  }
  for (const { group, isCustom } of types) if (isCustom) groups.get(group)?.sort(compareVersions);
  return groups;
}

/** The versions of aggregated groups, the preferred first. */
function byGroup<T extends Pick<AggregatedGroup, 'group' | 'version'>>(
  aggregated: readonly T[],
): ReadonlyMap<string, readonly T[]> {
  const sorted = aggregated.toSorted((left, right) => compareVersions(left.version, right.version));
  return Map.groupBy(sorted, ({ group }) => group);
}

/** The response to `/api/v1` and `/apis/GROUP/VERSION`; `undefined` when this server does not serve the version. */
export function apiResourceList(registry: Registry, group: string, version: string) {
  const types = typesOf(registry, group, version);
  if (types.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: groupVersion({ group, version }),
    resources: types.flatMap(resourceEntries),
  };
}

/** The aggregated discovery document of `/api`. */
export function coreDiscovery(registry: Registry) {
  return discoveryList([
    discoveryItem('', [versionItem('v1', typesOf(registry, '', 'v1').map(discoveryOfOwn))]),
  ]);
}

/** The aggregated discovery document of `/apis`. */
export function groupDiscovery(registry: Registry, aggregated: readonly AggregatedGroup[]) {
  const own = [...ownGroups(registry)].map(([group, versions]) =>
    discoveryItem(
      group,
      versions.map((version) => versionItem(version, typesOf(registry, group, version).map(discoveryOfOwn))),
    ),
  );
  const others = [...byGroup(aggregated)].map(([group, all]) =>
    discoveryItem(
      group,
      all.map(({ version, resources }) => versionItem(version, resources?.map(discoveryOfAggregated))),
    ),
  );
  return discoveryList([...own, ...others]);
}

function typesOf(registry: Registry, group: string, version: string): readonly ResourceType[] {
  return registry.all().filter((type) => type.group === group && type.version === version);
}

const SUBRESOURCE_VERBS = ['get', 'patch', 'update'];

function resourceEntries(type: ResourceType) {
  const { resource, singular, isNamespaced, kind, verbs, shortNames, categories, scale, hasStatus } = type;
  const part = { singularName: '', namespaced: isNamespaced, verbs: SUBRESOURCE_VERBS };
  return [
    {
      name: resource,
      singularName: singular,
      namespaced: isNamespaced,
      kind,
      verbs,
      ...(shortNames ? { shortNames } : {}),
      ...(categories ? { categories } : {}),
    },
    ...(scale
      ? [{ ...part, name: `${resource}/scale`, group: 'autoscaling', version: 'v1', kind: 'Scale' }]
      : []),
    ...(hasStatus ? [{ ...part, name: `${resource}/status`, kind }] : []),
  ];
}

function discoveryList(items: readonly unknown[]) {
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
}

function discoveryItem(group: string, versions: readonly unknown[]) {
  return { metadata: group === '' ? {} : { name: group }, versions };
}

function versionItem(version: string, resources: readonly unknown[] | undefined) {
  return resources === undefined
    ? { version, freshness: 'Stale' }
    : { version, resources, freshness: 'Current' };
}

function discoveryOfOwn(type: ResourceType) {
  const { resource, kind, isNamespaced, singular, verbs, shortNames, categories, scale, hasStatus } = type;
  const subresource = (name: string, responseKind: { group: string; version: string; kind: string }) => ({
    subresource: name,
    responseKind,
    verbs: SUBRESOURCE_VERBS,
  });
  const own = { group: '', version: '', kind };
  const subresources = [
    ...(scale ? [subresource('scale', { group: 'autoscaling', version: 'v1', kind: 'Scale' })] : []),
    ...(hasStatus ? [subresource('status', own)] : []),
  ];
  return {
    resource,
    responseKind: own,
    scope: isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames ? { shortNames } : {}),
    ...(categories ? { categories } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
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
