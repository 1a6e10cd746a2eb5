import * as z from 'zod/mini';
import type { ApiClient, RequestOptions } from './api-client.ts';
import { MalformedResponse } from './api-error.ts';
import { type ApiResource, type GroupVersion, groupVersionPath } from './api-resource.ts';

/** A version of a group, and what it has. */
export interface DiscoveredVersion extends GroupVersion {
  /** `undefined` where the server told the groups alone: {@link discoverResources} asks for them. */
  readonly resources: readonly ApiResource[] | undefined;
  /** Whether the server that serves the group could not be asked, so that what it has may be more, or other. */
  readonly isStale: boolean;
}

/** Servers that know no aggregated discovery, those before 1.26, take the last. */
const AGGREGATED = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(',');
const ACCEPT = `${AGGREGATED},application/json`;

const VERSION_LIST = z.object({ kind: z.literal('APIVersions'), versions: z.array(z.string()) });

const GROUP_LIST = z.object({
  kind: z.literal('APIGroupList'),
  groups: z.array(
    z.object({
      name: z.string(),
      versions: z.array(z.object({ version: z.string() })),
      preferredVersion: z.optional(z.object({ version: z.string() })),
    }),
  ),
});

const AGGREGATED_LIST = z.object({
  kind: z.literal('APIGroupDiscoveryList'),
  items: z.array(
    z.object({
      metadata: z.object({ name: z.optional(z.string()) }),
      versions: z.array(
        z.object({
          version: z.string(),
          freshness: z.optional(z.string()),
          resources: z.optional(
            z.array(
              z.object({
                resource: z.string(),
                scope: z.optional(z.string()),
                responseKind: z.nullish(z.object({ kind: z.string() })),
                subresources: z.optional(z.array(z.object({ subresource: z.string() }))),
              }),
            ),
          ),
        }),
      ),
    }),
  ),
});

const RESOURCE_LIST = z.object({
  kind: z.literal('APIResourceList'),
  resources: z.array(z.object({ name: z.string(), namespaced: z.boolean(), kind: z.string() })),
});

/** Asks what versions of which groups there are, those of a group in the order in which the server prefers them. */
export async function discoverVersions(
  api: ApiClient,
  options: RequestOptions = {},
): Promise<DiscoveredVersion[]> {
  const ask = async (path: string) =>
    versionsOf(path, await api.getJson(path, { ...options, accept: ACCEPT }));
  return (await Promise.all(['/api', '/apis'].map(ask))).flat();
}

/** Asks what one version of a group has. */
export async function discoverResources(
  api: ApiClient,
  version: GroupVersion,
  options: RequestOptions = {},
): Promise<ApiResource[]> {
  const path = groupVersionPath(version);
  const list = RESOURCE_LIST.safeParse(await api.getJson(path, options));
  if (!list.success)
    throw new MalformedResponse(`Cannot use the discovery at ${path}`, { cause: list.error });
  const { group } = version;
  const { resources } = list.data;
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map(({ name: plural, kind, namespaced }) => {
      const subresources = resources
        .filter(({ name }) => name.startsWith(`${plural}/`))
        .map(({ name }) => name.slice(plural.length + 1));
      return { group, version: version.version, kind, plural, namespaced, subresources };
    });
}

function versionsOf(path: string, response: unknown): DiscoveredVersion[] {
  const list = z.union([AGGREGATED_LIST, GROUP_LIST, VERSION_LIST]).safeParse(response);
  if (!list.success)
    throw new MalformedResponse(`Cannot use the discovery at ${path}`, { cause: list.error });
  switch (list.data.kind) {
    case 'APIVersions':
      return list.data.versions.map((version) => untold('', version));
    case 'APIGroupList':
      return list.data.groups.flatMap(({ name, versions, preferredVersion }) =>
        [...new Set([preferredVersion, ...versions].flatMap((one) => one?.version ?? []))].map((version) =>
          untold(name, version),
        ),
      );
    case 'APIGroupDiscoveryList':
      return list.data.items.flatMap(({ metadata: { name: group = '' }, versions }) =>
        versions.map(({ version, freshness, resources = [] }) => ({
          group,
          version,
          isStale: freshness === 'Stale',
          resources: resources.flatMap(({ resource: plural, scope, responseKind, subresources = [] }) => ({
            group,
            version,
            kind: responseKind?.kind ?? '',
            plural,
            namespaced: scope !== 'Cluster',
            subresources: subresources.map(({ subresource }) => subresource),
          })),
        })),
      );
  }
}

function untold(group: string, version: string): DiscoveredVersion {
  return { group, version, resources: undefined, isStale: false };
}
