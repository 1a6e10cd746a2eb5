import { Router } from '@koa/router';
import { memoize, memoizeByObject } from '#lib/cache/memoize.ts';
import { apiGroup, apiResourceList, serveGroups } from './discovery/discovery.ts';
import type { VersionInfo } from './discovery/version-info.ts';
import { goJson } from './encoding/json.ts';
import { DOCUMENT_TYPES, LIST_TYPES, MEDIA_TYPES } from './encoding/media-type.ts';
import type { Endpoint, Middleware, RequestState } from './http/api-context.ts';
import { type RequestInfo, splitPath } from './http/request-info.ts';
import { methodNotAllowed, noSuchResource } from './http/status-error.ts';
import { type RouteMediaTypes, requireGet, writeBody, writeDocument } from './http/write-response.ts';
import type { ApiGroup, ApiVersion, ObjectResource } from './resources/api-group.ts';
import type { ResourceIdentity } from './resources/conversions.ts';
import { listOptionsOf, serveDocument, serveGet, serveList, serveWatch } from './resources/serve-resource.ts';
import type { WatchServer } from './resources/watch-server.ts';

interface ServedGroups {
  readonly groups: readonly ApiGroup[];
  readonly version: VersionInfo;
  readonly watches: WatchServer;
  readonly recent: RecentRoutes;
  /** Host and port in discovery; the host may be empty. */
  serverAddress(): string;
}

/** Paths match exactly. */
const EXACT = { strict: true, sensitive: true };

/** A body is never read, whatever its type. */
const ANY_BODY = ['*/*'];

/** Routes of the groups and their discovery: by GET alone, each in its media types. */
export function groupRoutes(served: ServedGroups): Router<RequestState> {
  const { groups, recent, serverAddress } = served;
  const router = new Router<RequestState>(EXACT);
  const get: AddRoute = (path, mediaTypes, endpoint) => {
    const serve: Endpoint = (context) => {
      requireGet(context, mediaTypes);
      return endpoint(context);
    };
    router.get(path, recent.cache(serve));
  };
  get('/apis', { produces: DOCUMENT_TYPES }, serveGroups(groups, serverAddress));
  get('/version', { produces: [MEDIA_TYPES.json] }, (context) =>
    writeBody(context, Buffer.from(goJson({ ...served.version }, 2)), 'json'),
  );
  for (const group of groups) {
    get(`/apis/${group.name}`, { produces: DOCUMENT_TYPES }, (context) =>
      writeDocument(context, apiGroup(group)),
    );
    for (const apiVersion of group.versions) {
      const { version, route } = apiVersion;
      const groupVersion = `${group.name}/${version}`;
      get(`/apis/${groupVersion}`, { produces: DOCUMENT_TYPES }, (context) =>
        writeDocument(context, apiResourceList(groupVersion, apiVersion.resources())),
      );
      // For any method: an unknown path is not found before its method is considered.
      if (route) router.all(`/apis/${groupVersion}/*path`, recent.cache(serveRouted(route)));
      else
        for (const resource of apiVersion.resources())
          if (resource.type === 'objects')
            addObjectRoutes(get, { group: group.name, version, resource }, served);
    }
  }
  return router;
}

type AddRoute = (path: string, mediaTypes: RouteMediaTypes, endpoint: Endpoint) => void;

function serveRouted(route: NonNullable<ApiVersion['route']>): Endpoint {
  return (context) => {
    const routed = route(segmentsBehindVersion(context.state.info));
    if (!routed) throw noSuchResource();
    requireGet(context, { produces: LIST_TYPES, consumes: ANY_BODY });
    return serveDocument(context, routed);
  };
}

const segmentsBehindVersion = memoizeByObject(({ path }: RequestInfo) => splitPath(path).slice(3));

/**
 * Adds the paths of a resource. Namespaced objects are got in their namespace, and listed in it or across all; an empty
 * namespace is all of them, as in Kubernetes.
 */
function addObjectRoutes(
  get: AddRoute,
  served: ResourceIdentity & { readonly resource: ObjectResource },
  { watches }: ServedGroups,
): void {
  const { group, version, resource } = served;
  const everywhere = `/apis/${group}/${version}/${resource.name}`;
  const namespaced = `/apis/${group}/${version}/namespaces/{:namespace}/${resource.name}`;

  for (const path of resource.isNamespaced ? [everywhere, namespaced] : [everywhere]) {
    get(path, { produces: LIST_TYPES, consumes: ANY_BODY }, async (context) => {
      const target = { ...served, namespace: context.params.namespace || undefined };
      const options = listOptionsOf(context.state, resource);
      if (options.isWatch) serveWatch(context, { target, options, watches });
      else await serveList(context, { target, options });
    });
  }

  const one = `${resource.isNamespaced ? namespaced : everywhere}/:name`;
  get(one, { produces: DOCUMENT_TYPES, consumes: ANY_BODY }, (context) => {
    const { namespace = '', name = '' } = context.params;
    return serveGet(context, { ...served, key: { namespace, name } });
  });
}

/**
 * Serves a GET by the endpoint that the router found for the same path before. Routes never change, and the router
 * takes up to a fifth of a small request's CPU time (docs/contributing/dependencies.md): it matches all routes, decodes
 * parameters and composes handlers.
 */
export class RecentRoutes {
  readonly #slotOf = memoize((_path): { found?: FoundRoute } => ({}), { maxEntries: 1024, maxLength: 256 });

  /** Use it before the router. */
  readonly middleware: Middleware = (context, next) => {
    const found = context.method === 'GET' ? this.#slotOf(context.path).found : undefined;
    if (!found) return next();
    context.params = found.params;
    return found.endpoint(context);
  };

  /** The same endpoint, cached for each path that the router calls it for. */
  cache(endpoint: Endpoint): Endpoint {
    return (context) => {
      this.#slotOf(context.path).found = { endpoint, params: context.params };
      return endpoint(context);
    };
  }
}

interface FoundRoute {
  readonly endpoint: Endpoint;
  /** Immutable: requests for the same path share them. */
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Routes of endpoints by their exact paths, for any method; an endpoint whose path ends with a slash serves everything
 * below it, too.
 */
export function endpointRoutes(endpoints: ReadonlyMap<string, Endpoint>): Router<RequestState> {
  const router = new Router<RequestState>(EXACT);
  for (const [path, endpoint] of endpoints)
    router.all(path.endsWith('/') ? `${path}{*path}` : path, endpoint);
  return router;
}

/**
 * Responds where no route does: with 405 where one has the path, but not the method. As in Kubernetes, below a group
 * the response is a Status; elsewhere it is the list of all paths, and at `/` and `/debug/` the list of those below
 * them.
 */
export function unknownPath(
  groups: readonly ApiGroup[],
  endpoints: ReadonlyMap<string, Endpoint>,
): Middleware {
  const roots = ['/version/', ...groups.map(({ name }) => `/apis/${name}/`)];
  const inGroups = groups.flatMap(({ name, versions }) => [
    `/apis/${name}`,
    ...versions.map(({ version }) => `/apis/${name}/${version}`),
  ]);
  const all = ['/apis', '/version', ...inGroups, ...endpoints.keys()].sort();
  return async (context) => {
    if (context.matched?.length > 0) throw methodNotAllowed();
    if (roots.some((root) => context.path.startsWith(root))) throw noSuchResource();
    const beginning = INDEX_PATHS.get(context.state.info.path);
    const listed = beginning === undefined ? [] : all.filter((path) => path.startsWith(beginning));
    context.status = listed.length > 0 ? 200 : 404;
    const paths = listed.length > 0 ? listed : all;
    writeBody(context, Buffer.from(goJson({ paths }, 2)), 'json');
  };
}

/**
 * Where the list of paths is served, and the prefixes of the listed paths; as in Kubernetes, these paths themselves are
 * not in it.
 */
const INDEX_PATHS: ReadonlyMap<string, string> = new Map([
  ['/', '/'],
  ['/index.html', '/'],
  ['/debug', '/debug/'],
  ['/debug/', '/debug/'],
]);
