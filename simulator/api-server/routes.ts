import type { Authenticator } from '../access/authenticator.ts';
import type { Rbac } from '../access/rbac.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import type { StoreError } from '../objects/object-store.ts';
import { compareVersions, type ResourceType } from '../resources/resource-type.ts';
import type { Aggregator } from './aggregator.ts';
import type { ApiRequest, ResourceTarget } from './api-request.ts';
import { AGGREGATED_DISCOVERY, coreDiscovery, groupDiscovery } from './discovery.ts';
import { type ListPage, listOptions, listPage } from './list.ts';
import { serveOpenApi } from './openapi.ts';
import {
  type IncludeObject,
  negotiate,
  representList,
  representObject,
  sendJson,
  sendPieces,
  type ViewOptions,
} from './representation.ts';
import { serveReview } from './reviews.ts';
import {
  type ApiError,
  alreadyExists,
  badRequest,
  conflict,
  methodNotAllowed,
  noSuchPath,
  notFound,
} from './status.ts';
import { serveWatch } from './watch.ts';
import { createObject } from './writes/create-object.ts';
import { deleteNamed, deleteSelected } from './writes/delete-object.ts';
import { type ObjectWrite, type ResourceContext, writeOptions } from './writes/object-write.ts';
import { patchObject } from './writes/patch-object.ts';
import { readStructured } from './writes/read-object.ts';
import { serveScale } from './writes/scale.ts';
import { updateObject } from './writes/update-object.ts';

interface RouteContext extends ResourceContext {
  readonly authenticator: Authenticator;
  readonly rbac: Rbac;
  readonly aggregator: Aggregator;
}

/**
 * Serves an authorized request.
 *
 * @throws ApiError for expected failures
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
  if (path === '/api') return sendDiscovery(request, coreDiscovery(registry));
  if (path === '/apis')
    return sendDiscovery(request, groupDiscovery(registry, await aggregator.groups(request.signal)));
  if (path.startsWith('/openapi/')) return serveOpenApi(request, context);
  const isReading = request.method === 'GET' || request.method === 'HEAD';
  const reply = plainResponse(request, context);
  if (reply === undefined) throw noSuchPath();
  if (!isReading) throw methodNotAllowed();
  if (typeof reply !== 'string') return sendJson(request, 200, reply);
  request.response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  request.response.end(reply);
}

function plainResponse(request: ApiRequest, context: RouteContext): unknown {
  const { aggregator, minor } = context;
  switch (request.path.replace(/(.)\/$/, '$1')) {
    case '/version':
      return versionInfo(minor);
    case '/healthz':
    case '/livez':
    case '/readyz':
      return 'ok';
    default:
      return aggregatedGroup(request.path, aggregator);
  }
}

/** The `APIGroup` of an aggregated server at `/apis/GROUP`, the preferred version first. */
function aggregatedGroup(path: string, aggregator: Aggregator): unknown {
  const all = aggregator.backends().filter(({ group }) => path === `/apis/${group}`);
  const versions = all
    .map(({ group, version }) => ({ groupVersion: `${group}/${version}`, version }))
    .sort((left, right) => compareVersions(left.version, right.version));
  const [first] = versions;
  if (!first) return undefined;
  return { kind: 'APIGroup', apiVersion: 'v1', name: all[0]?.group, versions, preferredVersion: first };
}

function sendDiscovery(request: ApiRequest, document: unknown): void {
  request.response.setHeader('Content-Type', AGGREGATED_DISCOVERY);
  sendJson(request, 200, document);
}

/** The response to `/version` for Kubernetes 1.`minor`. */
function versionInfo(minor: number) {
  return {
    major: '1',
    minor: String(minor),
    emulationMajor: '1',
    emulationMinor: String(minor),
    minCompatibilityMajor: '1',
    minCompatibilityMinor: String(minor - 1),
    gitVersion: `v1.${minor}.2`,
    gitCommit: 'simulated',
    gitTreeState: 'clean',
    buildDate: '2026-01-01T00:00:00Z',
    goVersion: 'go1.24.9',
    compiler: 'gc',
    platform: 'linux/amd64',
  } as const;
}

/** Serves a request for a stored resource or object. */
async function serveResource(
  request: ApiRequest,
  target: ResourceTarget,
  type: ResourceType,
  context: ResourceContext,
): Promise<void> {
  const { store } = context;
  const { verb } = request;
  const write = (): ObjectWrite => ({ request, target, type, context, options: writeOptions(request) });
  const reply = (status: number, object: KubernetesObject) =>
    sendJson(request, status, representObject(object, viewOptions(request, type, context)));
  if (target.subresource === 'scale' && type.scale)
    return sendJson(request, 200, await serveScale(write(), type.scale));
  if (target.subresource !== undefined && !(target.subresource === 'status' && type.hasStatus))
    throw noSuchPath();
  if (!type.verbs.includes(verb)) throw methodNotAllowed();
  switch (verb) {
    case 'get':
      return reply(200, existing(target, type, context));
    case 'list':
      return serveList(
        request,
        listPage(store, type, listOptions(target, request.query)),
        viewOptions(request, type, context),
      );
    case 'watch': {
      const view = viewOptions(request, type, context);
      const list = listOptions(target, request.query);
      return serveWatch(request.response, { ...context, list, view, signal: request.signal });
    }
    case 'create': {
      if (target.name !== undefined) throw methodNotAllowed();
      const body = await readStructured(request);
      return reply(201, createObject(body, write()));
    }
    case 'update': {
      const body = await readStructured(request);
      return reply(200, updateObject(body, existing(target, type, context), write()));
    }
    case 'patch': {
      const { object, isNew } = await patchObject(write());
      return reply(isNew ? 201 : 200, object);
    }
    case 'delete': {
      if (target.subresource !== undefined) throw methodNotAllowed();
      const { object, status } = await deleteNamed(write());
      return status ? sendJson(request, 200, status) : reply(200, object);
    }
    case 'deletecollection': {
      const items = await deleteSelected(write());
      const page = { resourceVersion: store.resourceVersion, items };
      return serveList(request, page, viewOptions(request, type, context));
    }
    default:
      throw methodNotAllowed();
  }
}

/** Translates an error of the store into a Status. */
export function apiErrorOf(error: StoreError, { target }: ApiRequest): ApiError {
  if (!target.isResource) return badRequest(error.message);
  const { name = '' } = target;
  switch (error.kind) {
    case 'NotFound':
      return notFound(target, name);
    case 'Conflict':
      return conflict(target, name, error.message);
    case 'AlreadyExists':
      return alreadyExists(target, name);
  }
}

async function serveList(request: ApiRequest, page: ListPage, view: ViewOptions): Promise<void> {
  const { head, itemsField, item } = representList(page, view);
  const pieces = (function* () {
    yield `${JSON.stringify(head).slice(0, -1)},"${itemsField}":[`;
    for (const [index, object] of page.items.entries()) {
      yield `${index === 0 ? '' : ','}${JSON.stringify(item(object))}`;
    }
    yield ']}\n';
  })();
  await sendPieces(request, pieces);
}

function existing(target: ResourceTarget, type: ResourceType, { store }: ResourceContext): KubernetesObject {
  const object = store.get(type.storage, target.namespace, target.name ?? '');
  if (!object) throw notFound(target, target.name ?? '');
  return object;
}

function viewOptions(request: ApiRequest, type: ResourceType, { clock }: ResourceContext): ViewOptions {
  const requested = request.query.get('includeObject') ?? 'Metadata';
  if (!['None', 'Metadata', 'Object'].includes(requested))
    throw badRequest(`unrecognized includeObject value: ${requested}`);
  return { ...negotiate(request.raw.headers.accept), type, clock, includeObject: requested as IncludeObject };
}
