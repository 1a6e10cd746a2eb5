import * as z from 'zod';
import { LruMap } from '#lib/cache/lru-map.ts';
import { runForTenant } from '#lib/concurrency/tenant.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { readAs } from '../objects/find-wrong-field.ts';
import type { ApiClient, RequestOptions } from './api-client.ts';
import { isNotFound, MalformedResponse } from './api-error.ts';
import { type ApiResource, type GroupVersion, groupVersionPath, parseApiVersion } from './api-resource.ts';

interface RestMapperOptions {
  readonly api: ApiClient;
  readonly clock: Clock;
  /** Minimum interval of discovery for unknown kinds; by default 10 s. */
  readonly minRenewalMs?: number;
  /** Maximum age of discovery; by default 10 min. */
  readonly maxAgeMs?: number;
}

/** A kind as objects refer to it. */
export interface KindReference {
  /** As in `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
}

interface Discovery {
  readonly versions: readonly DiscoveredVersion[];
  /** Discovered later, for servers without aggregated discovery. */
  readonly resources: Map<DiscoveredVersion, Promise<readonly ApiResource[]>>;
  /** By version and kind, as objects refer to them. */
  readonly found: LruMap<string, ApiResource>;
  readonly requestedAtMs: number;
}

const MIN_RENEWAL_MS = 10_000;
const MAX_AGE_MS = 600_000;
/** Tenants may refer to any version of a kind. */
const MAX_FOUND = 1000;

/** Successors of groups that Kubernetes has removed. */
const MOVED_GROUPS: ReadonlyMap<string, readonly string[]> = new Map([
  ['extensions', ['apps', 'networking.k8s.io', 'policy']],
]);

/** Maps kinds to the resources that serve them, by the API server's discovery. */
export class RestMapper {
  readonly #options: RestMapperOptions;
  #discovery: Discovery | undefined;
  #requesting: Promise<Discovery> | undefined;

  constructor(options: RestMapperOptions) {
    this.#options = options;
  }

  /**
   * The resource of a kind in exactly this version; `undefined` where it is not served.
   *
   * @throws when discovery fails, and the result is not cached
   */
  async findExact(reference: KindReference, signal?: AbortSignal): Promise<ApiResource | undefined> {
    const { group, version } = parseApiVersion(reference.apiVersion);
    const isMeant = (one: DiscoveredVersion) => one.group === group && one.version === version;
    return (await this.#find(reference, (versions) => versions.filter(isMeant), signal))?.resource;
  }

  /**
   * The resource that serves a kind now: in the given version, else in the preferred version of its group, else in the
   * successor of the group, as `apps` is for Deployments of `extensions`.
   *
   * @returns `undefined` where nothing serves it
   * @throws when discovery fails, and the result is not cached
   */
  async find(reference: KindReference, signal?: AbortSignal): Promise<ApiResource | undefined> {
    const key = `${reference.apiVersion} ${reference.kind}`;
    const cached = this.#fresh?.found.get(key);
    if (cached) return cached;
    const { group, version } = parseApiVersion(reference.apiVersion);
    const groups = [group, ...(MOVED_GROUPS.get(group) ?? [])];
    const inOrder = (versions: readonly DiscoveredVersion[]) => [
      ...versions.filter((one) => one.group === group && one.version === version),
      ...groups.flatMap((name) => versions.filter((one) => one.group === name)),
    ];
    const found = await this.#find(reference, inOrder, signal);
    found?.discovery.found.set(key, found.resource);
    return found?.resource;
  }

  async #find(
    { apiVersion, kind }: KindReference,
    select: (versions: readonly DiscoveredVersion[]) => readonly DiscoveredVersion[],
    signal: AbortSignal | undefined,
  ): Promise<{ readonly resource: ApiResource; readonly discovery: Discovery } | undefined> {
    let discovery = await this.#current(signal);
    for (;;) {
      const selected = select(discovery.versions);
      for (const version of selected) {
        const resource = (await this.#resourcesOf(discovery, version, signal)).find(
          (one) => one.kind === kind,
        );
        if (resource) return { resource, discovery };
      }
      const renewed = await this.#renewed(discovery, signal);
      if (renewed === discovery) {
        if (!selected.some(({ isStale }) => isStale)) return undefined;
        throw new Error(
          `Cannot find kind ${kind} in ${apiVersion}: the server of the group is not available`,
        );
      }
      discovery = renewed;
    }
  }

  async #resourcesOf(
    { resources }: Discovery,
    version: DiscoveredVersion,
    signal: AbortSignal | undefined,
  ): Promise<readonly ApiResource[]> {
    if (version.resources) return version.resources;
    let requesting = resources.get(version);
    if (!requesting) {
      const discover = () => discoverResources(this.#options.api, version);
      requesting = runForTenant(undefined, discover).catch((error: unknown) => {
        if (isNotFound(error)) return []; // removed since
        throw error;
      });
      resources.set(version, requesting);
      requesting.catch(() => resources.delete(version));
    }
    return await (signal ? raceAbort(requesting, signal) : requesting);
  }

  /** The cached discovery, unless it is too old. */
  get #fresh(): Discovery | undefined {
    const { clock, maxAgeMs = MAX_AGE_MS } = this.#options;
    const cached = this.#discovery;
    return cached && clock.monotonicMs() - cached.requestedAtMs < maxAgeMs ? cached : undefined;
  }

  /** The cached discovery, renewed when it is too old; if that fails, the cached one. */
  async #current(signal: AbortSignal | undefined): Promise<Discovery> {
    if (this.#fresh) return this.#fresh;
    const { clock } = this.#options;
    const cached = this.#discovery;
    try {
      return await this.#request(signal);
    } catch (error) {
      if (!cached || signal?.aborted) throw error;
      this.#discovery = { ...cached, requestedAtMs: clock.monotonicMs() };
      return this.#discovery;
    }
  }

  /** The current discovery, unless it was just requested. */
  async #renewed(cached: Discovery, signal: AbortSignal | undefined): Promise<Discovery> {
    const { clock, minRenewalMs = MIN_RENEWAL_MS } = this.#options;
    if (this.#discovery && this.#discovery !== cached) return this.#discovery; // another caller has renewed it
    return clock.monotonicMs() - cached.requestedAtMs < minRenewalMs ? cached : await this.#request(signal);
  }

  /** Sends one request for all callers, on behalf of no tenant; it continues when one of them leaves. */
  async #request(signal: AbortSignal | undefined): Promise<Discovery> {
    this.#requesting ??= runForTenant(undefined, () => this.#discover()).finally(() => {
      this.#requesting = undefined;
    });
    return await (signal ? raceAbort(this.#requesting, signal) : this.#requesting);
  }

  async #discover(): Promise<Discovery> {
    const { api, clock } = this.#options;
    const requestedAtMs = clock.monotonicMs();
    const versions = await discoverVersions(api);
    const found = new LruMap<string, ApiResource>({ max: MAX_FOUND });
    this.#discovery = { versions, resources: new Map(), found, requestedAtMs };
    return this.#discovery;
  }
}

/** A version of a group, and its resources. */
interface DiscoveredVersion extends GroupVersion {
  /** `undefined` where discovery lists groups alone: {@link discoverResources} requests them. */
  readonly resources: readonly ApiResource[] | undefined;
  /** Whether the server of the group was unavailable, so that its resources may be incomplete. */
  readonly isStale: boolean;
}

/** Servers without aggregated discovery, before 1.26, take the last. */
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
      preferredVersion: z.object({ version: z.string() }).optional(),
    }),
  ),
});

const AGGREGATED_LIST = z.object({
  kind: z.literal('APIGroupDiscoveryList'),
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string().optional() }),
      versions: z.array(
        z.object({
          version: z.string(),
          freshness: z.string().optional(),
          resources: z
            .array(
              z.object({
                resource: z.string(),
                scope: z.string().optional(),
                responseKind: z.object({ kind: z.string() }).nullish(),
                subresources: z.array(z.object({ subresource: z.string() })).optional(),
              }),
            )
            .optional(),
        }),
      ),
    }),
  ),
});

const RESOURCE_LIST = z.object({
  kind: z.literal('APIResourceList'),
  resources: z.array(z.object({ name: z.string(), namespaced: z.boolean(), kind: z.string() })),
});

/** Requests the versions of all groups, those of a group in the server's order of preference. */
async function discoverVersions(api: ApiClient, options: RequestOptions = {}): Promise<DiscoveredVersion[]> {
  const request = async (path: string) =>
    versionsOf(path, await api.getJson(path, { ...options, accept: ACCEPT }));
  return (await Promise.all(['/api', '/apis'].map(request))).flat();
}

/** Requests the resources of one version of a group. */
async function discoverResources(
  api: ApiClient,
  version: GroupVersion,
  options: RequestOptions = {},
): Promise<ApiResource[]> {
  const path = groupVersionPath(version);
  const { resources } = readDiscovery(RESOURCE_LIST, path, await api.getJson(path, options));
  const { group } = version;
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
  const list = readDiscovery(
    z.discriminatedUnion('kind', [AGGREGATED_LIST, GROUP_LIST, VERSION_LIST]),
    path,
    response,
  );
  switch (list.kind) {
    case 'APIVersions':
      return list.versions.map((version) => undiscovered('', version));
    case 'APIGroupList':
      return list.groups.flatMap(({ name, versions, preferredVersion }) =>
        [...new Set([preferredVersion, ...versions].flatMap((one) => one?.version ?? []))].map((version) =>
          undiscovered(name, version),
        ),
      );
    case 'APIGroupDiscoveryList':
      return list.items.flatMap(({ metadata: { name: group = '' }, versions }) =>
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

function readDiscovery<S extends z.ZodType>(schema: S, path: string, response: unknown): z.output<S> {
  try {
    return readAs(schema, 'the discovery response', response);
  } catch (cause) {
    throw new MalformedResponse(`Cannot read discovery at ${path}`, { cause });
  }
}

function undiscovered(group: string, version: string): DiscoveredVersion {
  return { group, version, resources: undefined, isStale: false };
}
