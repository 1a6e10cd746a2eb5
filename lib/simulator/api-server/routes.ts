import { createHash } from 'node:crypto';
import type { Authenticator } from '../access/authenticator.ts';
import type { Rbac } from '../access/rbac.ts';
import type { Aggregator } from './aggregator.ts';
import type { ApiRequest } from './api-request.ts';
import {
  AGGREGATED_DISCOVERY,
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  coreDiscovery,
  groupDiscovery,
  ownGroupVersion,
  wantsAggregatedDiscovery,
} from './discovery.ts';
import { serveOpenApi } from './openapi.ts';
import { type ResourceContext, serveResource } from './resource-handlers.ts';
import { resourceType } from './resources.ts';
import { sendJson } from './respond.ts';
import { serveReview } from './reviews.ts';
import { methodNotAllowed, noSuchPath } from './status.ts';
import { VERSION } from './version.ts';

/** What routes need besides the request. */
export interface RouteContext extends ResourceContext {
  readonly authenticator: Authenticator;
  readonly rbac: Rbac;
  readonly aggregator: Aggregator;
  /** Address and port that discovery tells. */
  readonly serverAddress: string;
}

/**
 * Answers a request that is allowed.
 *
 * @throws ApiError for what fails in a known way
 */
export async function route(request: ApiRequest, context: RouteContext): Promise<void> {
  const { target, path } = request;
  const { aggregator } = context;
  const backend = aggregator.backendFor(path);
  if (backend) return aggregator.proxy(request, backend);
  if (target.isResource) {
    const type = resourceType(target.group, target.version, target.resource);
    if (!type) throw noSuchPath();
    return type.resource.endsWith('reviews')
      ? serveReview(request, type, context)
      : serveResource(request, target, type, context);
  }
  if (wantsAggregatedDiscovery(request.raw.headers.accept)) {
    if (path === '/api') return sendDiscovery(request, coreDiscovery());
    if (path === '/apis')
      return sendDiscovery(request, groupDiscovery(await aggregator.groups(request.signal)));
  }
  if (path.startsWith('/openapi/')) return serveOpenApi(request, context);
  const isReading = request.method === 'GET' || request.method === 'HEAD';
  const answer = plainAnswer(request, context);
  if (answer === undefined) throw noSuchPath();
  if (!isReading) throw methodNotAllowed();
  if (typeof answer !== 'string') return sendJson(request.response, 200, answer, request.style);
  request.response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  request.response.end(answer);
}

function plainAnswer(request: ApiRequest, context: RouteContext): unknown {
  const { aggregator, serverAddress } = context;
  switch (request.path.replace(/(.)\/$/, '$1')) {
    case '/version':
      return VERSION;
    case '/healthz':
    case '/livez':
    case '/readyz':
      return 'ok';
    case '/api':
      return apiVersions(serverAddress);
    case '/apis':
      return apiGroupList(aggregator.backends());
    case '/api/v1':
      return apiResourceList('', 'v1');
    default:
      return groupAnswer(request, aggregator);
  }
}

function groupAnswer({ path }: ApiRequest, aggregator: Aggregator): unknown {
  const [prefix, group, version, ...rest] = path.split('/').filter(Boolean);
  if (prefix !== 'apis' || group === undefined || rest.length > 0) return undefined;
  if (version !== undefined) return apiResourceList(group, version);
  const served = ownGroupVersion(group) ?? aggregator.backends().find((one) => one.group === group)?.version;
  return served && { kind: 'APIGroup', apiVersion: 'v1', ...apiGroup(group, served) };
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
