import { keptWith, remembering } from '#lib/cache/memoize.ts';
import { apiGroup, apiResourceList, serveGroups } from './discovery/discovery.ts';
import type { VersionInfo } from './discovery/version-info.ts';
import { goJson } from './encoding/json.ts';
import { DOCUMENT_TYPES, LIST_TYPES, MEDIA_TYPES } from './encoding/media-type.ts';
import type { ApiContext, Endpoint, Middleware, RequestState } from './http/api-context.ts';
import { inOrder } from './http/in-order.ts';
import { type RequestInfo, splitPath } from './http/request-info.ts';
import { methodNotAllowed, noSuchResource } from './http/status-error.ts';
import { gets, requireGet, writeBody, writeDocument } from './http/write-response.ts';
import { Router } from './koa-router.ts';
import type { ApiGroup, ApiVersion, ObjectResource } from './resources/api-group.ts';
import { listOptionsOf, serveDocument, serveGet, serveList, serveWatch } from './resources/serve-resource.ts';
import type { WatchServer } from './resources/watch-server.ts';

/** What is served. */
interface Served {
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

/** What every resource is got with: nobody reads a body. */
const ANY_BODY = ['*/*'];

/**
 * Declares where the resources of a version are served. What has namespaces is addressed inside of one, except that its
 * objects can be listed over all; an empty namespace is all of them, as in Kubernetes.
 */
function addResourceRoutes(
  router: Router<RequestState>,
  { name: group }: ApiGroup,
  apiVersion: ApiVersion,
  watches: WatchServer,
): void {
  const { version, route } = apiVersion;
  const at = `/apis/${group}/${version}`;
  if (route) {
    router.all(`${at}/*path`, (context) => {
      const routed = route(segmentsBehindVersion(context.state.info));
      if (!routed) throw noSuchResource();
      requireGet(context, { produces: LIST_TYPES, consumes: ANY_BODY });
      return serveDocument(context, routed);
    });
    return;
  }
  for (const [root, isInside] of [
    [`${at}/namespaces/{:namespace}`, true],
    [at, false],
  ] as const) {
    router.all(`${root}/:resource`, async (context) => {
      const { namespace = '' } = context.params;
      const resource = findResource(apiVersion, context.params.resource);
      if (isInside && !resource.isNamespaced) throw noSuchResource();
      requireGet(context, { produces: LIST_TYPES, consumes: ANY_BODY });
      const target = { group, version, resource, namespace: namespace || undefined };
      const options = listOptionsOf(context.state, resource);
      if (options.isWatch) serveWatch(context, { target, options, watches });
      else await serveList(context, { target, options });
    });

    router.all(`${root}/:resource/:name`, (context) => {
      const { namespace = '', name = '' } = context.params;
      const resource = findResource(apiVersion, context.params.resource);
      if (resource.isNamespaced !== isInside) throw noSuchResource();
      requireGet(context, { produces: DOCUMENT_TYPES, consumes: ANY_BODY });
      serveGet(context, { group, version, resource, key: { namespace, name } });
    });
  }
}

const segmentsBehindVersion = keptWith(({ path }: RequestInfo) => splitPath(path).slice(3));

/** @throws {StatusError} 404 where there is none of the name */
function findResource(version: ApiVersion, name: string | undefined): ObjectResource {
  const resource = version.resources().find((one) => one.name === name);
  if (resource?.type !== 'objects') throw noSuchResource();
  return resource;
}
