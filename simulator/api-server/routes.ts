import { createHash } from 'node:crypto';
import type { Authenticator } from '../access/authenticator.ts';
import type { Rbac } from '../access/rbac.ts';
import { compareVersions } from '../resources/version-order.ts';
import type { Aggregator } from './aggregation/aggregator.ts';
import type { ApiRequest } from './api-request.ts';
import { versionInfo } from './discovery/version.ts';
import {
  AGGREGATED_DISCOVERY,
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  coreDiscovery,
  groupDiscovery,
  ownGroups,
  wantsAggregatedDiscovery,
} from './discovery.ts';
import { serveOpenApi } from './openapi.ts';
import { serveResource } from './resource-handlers.ts';
import { sendJson } from './respond.ts';
import { serveReview } from './reviews.ts';
import { methodNotAllowed, noSuchPath } from './status.ts';
import type { ResourceContext } from './writes/object-write.ts';

/** What routes need besides the request. */
export interface RouteContext extends ResourceContext {
  readonly authenticator: Authenticator;
  readonly rbac: Rbac;
  readonly aggregator: Aggregator;
  /** Address and port that discovery tells. */
  readonly serverAddress: string;
}

/**
 * Serves a request that is allowed.
 *
 * @throws ApiError for what fails in a known way
 */
export async function route(request: ApiRequest, context: RouteContext): Promise<void> {
  const { target, path } = request;
  const { aggregator, registry } = context;
  const backend = aggregator.backendFor(path);
  if (backend) return aggregator.proxy(request, backend);
  if (target.isResource) {
    const type = registry.find(target.group, target.version, target.resource);
    if (!type) throw noSuchPath();
    return !type.verbs.includes('get')
      ? serveReview(request, type, context)
      : serveResource(request, target, type, context);
  }
  if (wantsAggregatedDiscovery(request.raw.headers.accept)) {
    if (path === '/api') return sendDiscovery(request, coreDiscovery(registry));
    if (path === '/apis')
      return sendDiscovery(request, groupDiscovery(registry, await aggregator.groups(request.signal)));
  }
  if (path.startsWith('/openapi/')) return serveOpenApi(request, context);
  const isReading = request.method === 'GET' || request.method === 'HEAD';
  const reply = plainResponse(request, context);
  if (reply === undefined) throw noSuchPath();
  if (!isReading) throw methodNotAllowed();
  if (typeof reply !== 'string') return sendJson(request.response, 200, reply, request.style);
  request.response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  request.response.end(reply);
}

function plainResponse(request: ApiRequest, context: RouteContext): unknown {
  const { aggregator, registry, serverAddress, minor } = context;
  switch (request.path.replace(/(.)\/$/, '$1')) {
    case '/version':
      return versionInfo(minor);
    case '/healthz':
    case '/livez':
    case '/readyz':
      return 'ok';
    case '/api':
      return apiVersions(serverAddress);
    case '/apis':
      return apiGroupList(registry, aggregator.backends());
    case '/api/v1':
      return apiResourceList(registry, '', 'v1');
    default:
      return groupResponse(request, context);
  }
}

function groupResponse({ path }: ApiRequest, { aggregator, registry }: RouteContext): unknown {
  const [prefix, group, version, ...rest] = path.split('/').filter(Boolean);
  if (prefix !== 'apis' || group === undefined || rest.length > 0) return undefined;
  if (version !== undefined) return apiResourceList(registry, group, version);
  const aggregated = aggregator.backends().filter((one) => one.group === group);
  const versions =
    ownGroups(registry).get(group) ?? aggregated.map((one) => one.version).sort(compareVersions);
  return versions.length === 0
    ? undefined
    : { kind: 'APIGroup', apiVersion: 'v1', ...apiGroup(group, versions) };
}

/** Sends a whole discovery document, with the tag that clients keep it by. */
function sendDiscovery({ raw, response, style }: ApiRequest, document: unknown): void {
  const tag = `"${createHash('sha512').update(JSON.stringify(document)).digest('hex').toUpperCase()}"`;
  response.setHeader('Cache-Control', 'public');
  response.setHeader('ETag', tag);
  response.setHeader('Vary', 'Accept');
  if (raw.headers['if-none-match'] === tag) {
    response.writeHead(304);
    return void response.end();
  }
  response.setHeader('Content-Type', AGGREGATED_DISCOVERY);
  sendJson(response, 200, document, style);
}
