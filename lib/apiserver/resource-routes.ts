import type { RequestState } from '#lib/apiserver/http/api-context.ts';
import { type RequestInfo, splitPath } from '#lib/apiserver/http/request-info.ts';
import { keptWith } from '#lib/cache/memoize.ts';
import { DOCUMENT_TYPES, LIST_TYPES } from './encoding/media-type.ts';
import { noSuchResource } from './http/status-error.ts';
import { requireGet } from './http/write-response.ts';
import type { Router } from './koa-router.ts';
import type { ApiGroup, ApiVersion, ObjectResource } from './resources/api-group.ts';
import { listOptionsOf, serveDocument, serveGet, serveList, serveWatch } from './resources/serve-resource.ts';
import type { WatchServer } from './resources/watch-server.ts';

/** What every resource is got with: nobody reads a body. */
const ANY_BODY = ['*/*'];

/**
 * Declares where the resources of a version are served. What has namespaces is addressed inside of one, except that its
 * objects can be listed over all; an empty namespace is all of them, as in Kubernetes.
 */
export function addResourceRoutes(
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
