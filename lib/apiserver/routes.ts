import type { VersionInfo } from '#lib/apiserver/discovery/version-info.ts';
import type { ApiContext, Endpoint, Middleware, RequestState } from '#lib/apiserver/http/api-context.ts';
import { inOrder } from '#lib/apiserver/http/in-order.ts';
import { splitPath } from '#lib/apiserver/http/request-info.ts';
import { remembering } from '#lib/cache/memoize.ts';
import { apiGroup, apiResourceList, serveGroups } from './discovery/discovery.ts';
import { goJson } from './encoding/json.ts';
import { DOCUMENT_TYPES, MEDIA_TYPES } from './encoding/media-type.ts';
import { methodNotAllowed, noSuchResource } from './http/status-error.ts';
import { gets, writeBody, writeDocument } from './http/write-response.ts';
import { Router } from './koa-router.ts';
import { addResourceRoutes } from './resource-routes.ts';
import type { ApiGroup } from './resources/api-group.ts';
import type { WatchServer } from './resources/watch-server.ts';

/** What is served. */
export interface Served {
  readonly groups: readonly ApiGroup[];
  readonly version: VersionInfo;
  /** By their exact paths; one that ends with a slash serves everything below it, too. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly watches: WatchServer;
  /** Host and port for discovery to tell; the host may be empty. */
  serverAddress(): string;
}

/**
 * Declares what is served where. As in Kubernetes, to a path that leads into a group the group responds even if there is
 * nothing; the response to any other unknown path is the list of those that there are, and so it is to `/` and, of what is
 * below it, to `/debug/`.
 */
export function routes(served: Served): Middleware {
  const { groups, version, endpoints, watches } = served;
  const router = new Router<RequestState>({ strict: true, sensitive: true }); // paths are matched as they are

  router.all('/apis', gets(DOCUMENT_TYPES), serveGroups(groups, served.serverAddress));
  for (const group of groups) {
    const { name, versions } = group;
    router.all(`/apis/${name}`, gets(DOCUMENT_TYPES), (context) => writeDocument(context, apiGroup(group)));
    for (const each of versions) {
      const groupVersion = `${name}/${each.version}`;
      router.all(`/apis/${groupVersion}`, gets(DOCUMENT_TYPES), (context) =>
        writeDocument(context, apiResourceList(groupVersion, each.resources())),
      );
      addResourceRoutes(router, group, each, watches);
    }
    router.all(`/apis/${name}/*path`, nothing);
  }
  router.all('/version', gets([MEDIA_TYPES.json]), (context) =>
    writeBody(context, Buffer.from(goJson({ ...version }, 2)), 'json'),
  );
  router.all('/version/*path', nothing);
  for (const [path, endpoint] of endpoints) {
    router.all(path.endsWith('/') ? `${path}{*path}` : path, endpoint);
  }

  const routeOf = remembering((path) => findRoute(router, routedPath(path)), { most: 1024, longest: 256 });
  return (context) => {
    const { path } = context.state.info;
    const route = routeOf(path);
    if (!route) return servePaths(context, served);
    if (context.method !== 'GET' && !isKnown(router, context.method, routedPath(path)))
      throw methodNotAllowed();
    context.params = route.params;
    return route.handle(context);
  };
}

/** What a path leads to, whatever the method: handlers look at that themselves. */
interface FoundRoute {
  readonly handle: Middleware;
  /** Never changed: requests for the same path share them. */
  readonly params: Readonly<Record<string, string>>;
}

/**
 * The first of the router's routes that a path fits; no other is run, for none here leaves a request to the next. Found
 * once for each path: the router looks, decodes and composes with every request.
 */
function findRoute(router: Router<RequestState>, path: string): FoundRoute | undefined {
  const [layer] = router.match(path, 'GET').pathAndMethod;
  return (
    layer && {
      handle: inOrder(layer.stack as unknown as readonly Middleware[]),
      params: layer.params(path, layer.captures(path)),
    }
  );
}

/** HTTP/2 lets clients invent methods, which no route has. */
function isKnown(router: Router<RequestState>, method: string, path: string): boolean {
  return router.match(path, method).pathAndMethod.length > 0;
}

function nothing(): never {
  throw noSuchResource();
}

/**
 * The path as routes are matched with it: encoded again, for they decode parameters; slashes behind what is served in
 * groups count for nothing, as in Kubernetes.
 */
function routedPath(path: string): string {
  const isTrimmed = path.endsWith('/') && /^\/(?:apis|version)\//.test(path);
  const trimmed = isTrimmed ? `/${splitPath(path).join('/')}` : path;
  return /[^\w\-./]/.test(trimmed) ? trimmed.split('/').map(encodeURIComponent).join('/') : trimmed;
}

/** Where the list of paths is what one asks for, and how those begin that are listed; as in Kubernetes, they are no part of it. */
const INDEX_PATHS: ReadonlyMap<string, string> = new Map([
  ['/', '/'],
  ['/index.html', '/'],
  ['/debug', '/debug/'],
  ['/debug/', '/debug/'],
]);

function servePaths(context: ApiContext, { groups, endpoints }: Served): void {
  const inGroups = groups.flatMap(({ name, versions }) => [
    `/apis/${name}`,
    ...versions.map(({ version }) => `/apis/${name}/${version}`),
  ]);
  const all = ['/apis', '/version', ...inGroups, ...endpoints.keys()].sort();
  const beginning = INDEX_PATHS.get(context.state.info.path);
  const listed = beginning === undefined ? [] : all.filter((path) => path.startsWith(beginning));
  context.status = listed.length > 0 ? 200 : 404;
  const paths = listed.length > 0 ? listed : all;
  writeBody(context, Buffer.from(goJson({ paths }, 2)), 'json');
}
