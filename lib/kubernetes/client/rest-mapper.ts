import * as z from 'zod';
import { runForTenant } from '#lib/concurrency/tenant.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { readAs } from '../objects/find-wrong-field.ts';
import type { ApiClient, RequestOptions } from './api-client.ts';
import { isNotFound, MalformedResponse } from './api-error.ts';
import { type ApiResource, type GroupVersion, groupVersionPath, parseApiVersion } from './api-resource.ts';

/** What a REST mapper works with. */
interface RestMapperOptions {
  readonly api: ApiClient;
  readonly clock: Clock;
  /** What is unknown has discovery asked again at most this often; by default every 10 s. */
  readonly minRenewalMs?: number;
  /** Discovery is asked again at the latest after this long; by default after 10 min. */
  readonly maxAgeMs?: number;
}

/** A kind as objects that refer to others name it. */
export interface KindReference {
  /** As in `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
}

interface Discovery {
  readonly versions: readonly DiscoveredVersion[];
  /** What was asked for later, of servers that do not tell everything at once. */
  readonly resources: Map<DiscoveredVersion, Promise<readonly ApiResource[]>>;
  readonly askedAtMs: number;
}

const MIN_RENEWAL_MS = 10_000;
const MAX_AGE_MS = 600_000;

/** Where the kinds went of groups that Kubernetes has given up. */
const MOVED_GROUPS: ReadonlyMap<string, readonly string[]> = new Map([
  ['extensions', ['apps', 'networking.k8s.io', 'policy']],
]);

/** Knows where the API server serves the objects of a kind, by its discovery. */
export class RestMapper {
  readonly #options: RestMapperOptions;
  #discovery: Discovery | undefined;
  #asking: Promise<Discovery> | undefined;

  constructor(options: RestMapperOptions) {
    this.#options = options;
  }

  /**
   * The resource of a kind in exactly this version; `undefined` where it is not served.
   *
   * @throws when discovery cannot be asked, and what it would say is not known
   */
  async findExact(reference: KindReference, signal?: AbortSignal): Promise<ApiResource | undefined> {
    const { group, version } = parseApiVersion(reference.apiVersion);
    const isMeant = (one: DiscoveredVersion) => one.group === group && one.version === version;
    return await this.#find(reference, (versions) => versions.filter(isMeant), signal);
  }

  /**
   * The resource that serves a kind now: in the version named, else in the one that the server prefers of its group,
   * else in the group that took it over, as `apps` did Deployments from `extensions`.
   *
   * @returns `undefined` where nothing serves it
   * @throws when discovery cannot be asked, and what it would say is not known
   */
  async find(reference: KindReference, signal?: AbortSignal): Promise<ApiResource | undefined> {
    const { group, version } = parseApiVersion(reference.apiVersion);
    const groups = [group, ...(MOVED_GROUPS.get(group) ?? [])];
    const inOrder = (versions: readonly DiscoveredVersion[]) => [
      ...versions.filter((one) => one.group === group && one.version === version),
      ...groups.flatMap((name) => versions.filter((one) => one.group === name)),
    ];
    return await this.#find(reference, inOrder, signal);
  }

  async #find(
    { apiVersion, kind }: KindReference,
    select: (versions: readonly DiscoveredVersion[]) => readonly DiscoveredVersion[],
    signal: AbortSignal | undefined,
  ): Promise<ApiResource | undefined> {
    let discovery = await this.#current(signal);
    for (;;) {
      const selected = select(discovery.versions);
      for (const version of selected) {
        const resource = (await this.#resourcesOf(discovery, version, signal)).find(
          (one) => one.kind === kind,
        );
        if (resource) return resource;
      }
      const renewed = await this.#renewed(discovery, signal);
      if (renewed === discovery) {
        if (!selected.some(({ isStale }) => isStale)) return undefined;
        throw new Error(`Cannot find kind ${kind} in ${apiVersion}: what serves the group is not available`);
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
    let asking = resources.get(version);
    if (!asking) {
      const discover = () => discoverResources(this.#options.api, version);
      asking = runForTenant(undefined, discover).catch((error: unknown) => {
        if (isNotFound(error)) return []; // gone since
        throw error;
      });
      resources.set(version, asking);
      asking.catch(() => resources.delete(version));
    }
    return await (signal ? raceAbort(asking, signal) : asking);
  }

  /** What is known, asked for again when that was long ago; if that fails, as it was. */
  async #current(signal: AbortSignal | undefined): Promise<Discovery> {
    const { clock, maxAgeMs = MAX_AGE_MS } = this.#options;
    const known = this.#discovery;
    if (known && clock.monotonicMs() - known.askedAtMs < maxAgeMs) return known;
    try {
      return await this.#ask(signal);
    } catch (error) {
      if (!known || signal?.aborted) throw error;
      this.#discovery = { ...known, askedAtMs: clock.monotonicMs() };
      return this.#discovery;
    }
  }

  /** What discovery says now, unless it was just asked. */
  async #renewed(known: Discovery, signal: AbortSignal | undefined): Promise<Discovery> {
    const { clock, minRenewalMs = MIN_RENEWAL_MS } = this.#options;
    if (this.#discovery && this.#discovery !== known) return this.#discovery; // somebody else had it asked
    return clock.monotonicMs() - known.askedAtMs < minRenewalMs ? known : await this.#ask(signal);
  }

  /** Asks once for all who wait, and not for a tenant among them; goes on though one of them does not wait any more. */
  async #ask(signal: AbortSignal | undefined): Promise<Discovery> {
    this.#asking ??= runForTenant(undefined, () => this.#discover()).finally(() => {
      this.#asking = undefined;
    });
    return await (signal ? raceAbort(this.#asking, signal) : this.#asking);
  }

  async #discover(): Promise<Discovery> {
    const { api, clock } = this.#options;
    const askedAtMs = clock.monotonicMs();
    const versions = await discoverVersions(api);
    this.#discovery = { versions, resources: new Map(), askedAtMs };
    return this.#discovery;
  }
}

/** A version of a group, and what it has. */
interface DiscoveredVersion extends GroupVersion {
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

/** Asks what versions of which groups there are, those of a group in the order in which the server prefers them. */
async function discoverVersions(api: ApiClient, options: RequestOptions = {}): Promise<DiscoveredVersion[]> {
  const ask = async (path: string) =>
    versionsOf(path, await api.getJson(path, { ...options, accept: ACCEPT }));
  return (await Promise.all(['/api', '/apis'].map(ask))).flat();
}

/** Asks what one version of a group has. */
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
      return list.versions.map((version) => untold('', version));
    case 'APIGroupList':
      return list.groups.flatMap(({ name, versions, preferredVersion }) =>
        [...new Set([preferredVersion, ...versions].flatMap((one) => one?.version ?? []))].map((version) =>
          untold(name, version),
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
    return readAs(schema, 'what is served', response);
  } catch (cause) {
    throw new MalformedResponse(`Cannot use the discovery at ${path}`, { cause });
  }
}

function untold(group: string, version: string): DiscoveredVersion {
  return { group, version, resources: undefined, isStale: false };
}
