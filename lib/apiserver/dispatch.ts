import { apiGroup, apiResourceList } from '#lib/apiserver/discovery/group-documents.ts';
import { serveGroups } from '#lib/apiserver/discovery/serve-groups.ts';
import type { VersionInfo } from '#lib/apiserver/discovery/version-info.ts';
import { goJson } from '#lib/apiserver/encoding/go-json.ts';
import type { ApiContext, Endpoint } from '#lib/apiserver/http/api-context.ts';
import {
  methodNotAllowed,
  noSuchResource,
  notProducible,
  unsupportedMediaType,
} from '#lib/apiserver/http/failures.ts';
import { splitPath } from '#lib/apiserver/http/request-info.ts';
import { writeBody, writeDocument } from '#lib/apiserver/http/write-response.ts';
import { DOCUMENT_TYPES, LIST_TYPES, MEDIA_TYPES } from '#lib/apiserver/negotiation/media-type.ts';
import { canConsume, canProduce } from '#lib/apiserver/negotiation/route-media-types.ts';
import { matchRoute } from '#lib/apiserver/resources/route.ts';
import { serveDocument } from '#lib/apiserver/resources/serve-document.ts';
import { serveGet } from '#lib/apiserver/resources/serve-get.ts';
import { type ListTarget, listOptionsOf, serveList } from '#lib/apiserver/resources/serve-list.ts';
import { serveRouted } from '#lib/apiserver/resources/serve-routed.ts';
import { serveWatch } from '#lib/apiserver/watch/serve-watch.ts';
import type { WatchServer } from '#lib/apiserver/watch/watch-server.ts';
import type { ApiGroup, ApiVersion } from './api-group.ts';

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
 * Leads a request to what its path names. As in Kubernetes, a path that leads into a group is answered by the
 * group even if there is nothing; any other unknown path is answered with the list of those that there are.
 */
export function dispatch(served: Served): Endpoint {
  const { groups, endpoints, version } = served;
  const groupList = serveGroups(groups, served.serverAddress);
  return (context) => {
    const { path } = context.state.info;
    if (path === '/apis' || path === '/apis/') {
      requireGet(context, { produces: DOCUMENT_TYPES });
      return groupList(context);
    }
    const group = groups.find(({ name }) => isAtOrBelow(path, `/apis/${name}`));
    if (group) return dispatchGroup(context, group, served);
    if (isAtOrBelow(path, '/version')) return answerVersion(context, version);
    const endpoint = endpoints.get(path) ?? endpointAbove(path, endpoints);
    return endpoint ? endpoint(context) : answerPaths(context, served);
  };
}

function dispatchGroup(context: ApiContext, group: ApiGroup, { watches }: Served): Promise<void> | void {
  const [, , versionName, ...segments] = splitPath(context.state.info.path);
  if (versionName === undefined) {
    requireGet(context, { produces: DOCUMENT_TYPES });
    return writeDocument(context, apiGroup(group));
  }
  const version = group.versions.find((one) => one.version === versionName);
  if (!version) throw noSuchResource();
  if (segments.length > 0) return dispatchResource(context, { group, version, segments, watches });
  requireGet(context, { produces: DOCUMENT_TYPES });
  writeDocument(context, apiResourceList(`${group.name}/${version.version}`, version.resources()));
}

function dispatchResource(
  context: ApiContext,
  target: {
    readonly group: ApiGroup;
    readonly version: ApiVersion;
    readonly segments: readonly string[];
    readonly watches: WatchServer;
  },
): Promise<void> {
  if (target.version.route) {
    const routed = target.version.route(target.segments);
    if (!routed) throw noSuchResource();
    requireGet(context, { produces: LIST_TYPES, consumes: ['*/*'] });
    return serveRouted(context, routed);
  }
  const route = matchRoute(target.version.resources(), target.segments);
  if (!route) throw noSuchResource();
  requireGet(context, { produces: route.type === 'list' ? LIST_TYPES : DOCUMENT_TYPES, consumes: ['*/*'] });
  const identity = { group: target.group.name, version: target.version.version };
  if (route.type === 'list') return serveCollection(context, { ...identity, ...route }, target.watches);
  const key = { namespace: route.namespace, name: route.name };
  return route.type === 'get'
    ? serveGet(context, { ...identity, resource: route.resource, key })
    : serveDocument(context, { ...identity, resource: route.resource, key });
}

/** A collection is listed or, where its query says so, watched. */
async function serveCollection(context: ApiContext, target: ListTarget, watches: WatchServer): Promise<void> {
  const options = listOptionsOf(context.state, target.resource);
  if (options.isWatch) serveWatch(context, { target, options, watches });
  else await serveList(context, { target, options });
}

function answerVersion(context: ApiContext, version: VersionInfo): void {
  if (splitPath(context.state.info.path).length > 1) throw noSuchResource();
  requireGet(context, { produces: [MEDIA_TYPES.json] });
  writeBody(context, Buffer.from(goJson({ ...version }, 2)), 'json');
}

/** Where the list of paths is what one asks for; as in Kubernetes, they are no part of it. */
const INDEX_PATHS = ['/', '/index.html'];

function answerPaths(context: ApiContext, { groups, endpoints }: Served): void {
  const paths = groups.flatMap(({ name, versions }) => [
    `/apis/${name}`,
    ...versions.map(({ version }) => `/apis/${name}/${version}`),
  ]);
  const all = ['/apis', '/version', ...paths, ...endpoints.keys()].sort();
  context.status = INDEX_PATHS.includes(context.state.info.path) ? 200 : 404;
  writeBody(context, Buffer.from(goJson({ paths: all }, 2)), 'json');
}

/**
 * @throws {StatusError} in go-restful's order: 405 for other methods, 415 for a body that is said to be of another
 * kind, 406 where the client takes nothing of what is produced
 */
function requireGet(
  context: ApiContext,
  {
    produces,
    consumes = produces,
  }: { readonly produces: readonly string[]; readonly consumes?: readonly string[] },
): void {
  if (context.method !== 'GET') throw methodNotAllowed();
  if (!canConsume(context.get('Content-Type'), consumes)) throw unsupportedMediaType();
  if (!canProduce(context.get('Accept'), produces)) throw notProducible(produces);
}

function endpointAbove(path: string, endpoints: ReadonlyMap<string, Endpoint>): Endpoint | undefined {
  for (const [root, endpoint] of endpoints) {
    if (root.endsWith('/') && path.startsWith(root)) return endpoint;
  }
  return undefined;
}

function isAtOrBelow(path: string, root: string): boolean {
  return path.startsWith(root) && (path.length === root.length || path[root.length] === '/');
}
