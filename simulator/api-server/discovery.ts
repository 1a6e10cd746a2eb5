import { compareVersions, type ResourceRegistry, type ResourceType } from '../resources/resource-type.ts';
import type { AggregatedGroup, AggregatedResource } from './aggregator.ts';

type Registry = Pick<ResourceRegistry, 'all'>;

/** The media type of discovery; unlike others, it is returned with its parameters. */
export const AGGREGATED_DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** The response to `/api`, always in the form that Kubernetes calls aggregated. */
export function coreDiscovery(registry: Registry) {
  return discoveryList([
    ownGroup(
      '',
      registry.all().filter(({ group }) => group === ''),
    ),
  ]);
}

/** The response to `/apis`; the preferred version of a group is the first. */
export function groupDiscovery(registry: Registry, aggregated: readonly AggregatedGroup[]) {
  const named = registry.all().filter(({ group }) => group !== '');
  const own = [...Map.groupBy(named, ({ group }) => group)].map(([group, types]) => ownGroup(group, types));
  const sorted = aggregated.toSorted((left, right) => compareVersions(left.version, right.version));
  const others = [...Map.groupBy(sorted, ({ group }) => group)].map(([group, all]) =>
    discoveryItem(
      group,
      all.map(({ version, resources }) => versionItem(version, resources?.map(discoveryOfAggregated))),
    ),
  );
  return discoveryList([...own, ...others]);
}

function ownGroup(group: string, types: readonly ResourceType[]) {
  const versions = [...Map.groupBy(types, ({ version }) => version)];
  if (types[0]?.isCustom) versions.sort(([left], [right]) => compareVersions(left, right));
  return discoveryItem(
    group,
    versions.map(([version, all]) => versionItem(version, all.map(discoveryOfOwn))),
  );
}

const SUBRESOURCE_VERBS = ['get', 'patch', 'update'];

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
