import type { Clock } from '#lib/time/clock.ts';
import { fieldAt, type KubernetesObject, type NewObject } from '../objects/kubernetes-object.ts';
import type { ObjectStore, StoreConflict } from '../objects/object-store.ts';
import { type ApiRequest, readBody } from './api-request.ts';
import { listPage } from './list.ts';
import { listOptions } from './list-options.ts';
import { mergePatch } from './merge-patch.ts';
import { negotiate } from './negotiation.ts';
import type { ResourceTarget } from './request-target.ts';
import { groupVersion, type ResourceType } from './resources.ts';
import { sendJson, sendPieces } from './respond.ts';
import { ApiError, badRequest, methodNotAllowed, notFound, qualified } from './status.ts';
import { type IncludeObject, type ViewOptions, viewOfList, viewOfObject } from './view.ts';
import { serveWatch } from './watch.ts';

/** What handlers of stored resources work with. */
export interface ResourceContext {
  readonly store: ObjectStore;
  readonly clock: Clock;
}

/** Answers a request for a stored resource, or one of its objects. */
export async function serveResource(
  request: ApiRequest,
  target: ResourceTarget,
  type: ResourceType,
  context: ResourceContext,
): Promise<void> {
  const { store } = context;
  if (target.subresource !== undefined && target.subresource !== 'status') throw methodNotAllowed();
  switch (request.verb) {
    case 'get':
      return send(request, 200, existing(store, target, type), viewOptions(request, type, context));
    case 'list':
      return serveList(request, target, type, context);
    case 'watch': {
      const view = viewOptions(request, type, context);
      const list = listOptions(target, request.query);
      return serveWatch(request.response, { ...context, list, view, signal: request.signal });
    }
    case 'create': {
      const draft = asNew(draftOf(await readJson(request), target, type), type);
      return send(request, 201, store.create(type.resource, draft), viewOptions(request, type, context));
    }
    case 'update': {
      const draft = draftOf(await readJson(request), target, type);
      return send(request, 200, store.update(type.resource, draft), viewOptions(request, type, context));
    }
    case 'patch': {
      const patched = mergePatch(existing(store, target, type), await readJson(request));
      const draft = draftOf(patched, target, type);
      return send(request, 200, store.update(type.resource, draft), viewOptions(request, type, context));
    }
    case 'delete': {
      const { name = '', namespace } = target;
      const deleted = store.delete(type.resource, namespace, name);
      return send(request, 200, deleted, viewOptions(request, type, context));
    }
    default:
      throw methodNotAllowed();
  }
}

/** A refusal of the store in the words of the API. */
export function apiErrorOf(error: StoreConflict, { target }: ApiRequest): ApiError {
  if (!target.isResource) return badRequest(error.message);
  const { name = '' } = target;
  if (error.kind === 'NotFound') return notFound(target, name);
  const details = { name, ...(target.group ? { group: target.group } : {}), kind: target.resource };
  return error.kind === 'AlreadyExists'
    ? new ApiError(
        409,
        'AlreadyExists',
        `${qualified(target)} ${error.message.slice(target.resource.length + 1)}`,
        details,
      )
    : new ApiError(
        409,
        'Conflict',
        `Operation cannot be fulfilled on ${qualified(target)} "${name}": ${error.message}`,
        details,
      );
}

async function serveList(
  request: ApiRequest,
  target: ResourceTarget,
  type: ResourceType,
  context: ResourceContext,
): Promise<void> {
  const view = viewOptions(request, type, context);
  const page = listPage(context.store, type.resource, listOptions(target, request.query));
  const { head, itemsField, item } = viewOfList(page, view);
  if (request.style.isPretty) {
    return sendJson(request.response, 200, { ...head, [itemsField]: page.items.map(item) }, request.style);
  }
  const pieces = (function* () {
    yield `${JSON.stringify(head).slice(0, -1)},"${itemsField}":[`;
    for (const [index, object] of page.items.entries()) {
      yield `${index === 0 ? '' : ','}${JSON.stringify(item(object))}`;
    }
    yield ']}\n';
  })();
  await sendPieces(request.response, pieces, request.style);
}

function existing(store: ObjectStore, target: ResourceTarget, type: ResourceType): KubernetesObject {
  const object = store.get(type.resource, target.namespace, target.name ?? '');
  if (!object) throw notFound(target, target.name ?? '');
  return object;
}

function send(request: ApiRequest, status: number, object: KubernetesObject, view: ViewOptions): void {
  sendJson(request.response, status, viewOfObject(object, view), request.style);
}

function viewOptions(request: ApiRequest, type: ResourceType, { clock }: ResourceContext): ViewOptions {
  const asked = request.query.get('includeObject') ?? 'Metadata';
  if (!['None', 'Metadata', 'Object'].includes(asked))
    throw badRequest(`unrecognized includeObject value: ${asked}`);
  return { ...negotiate(request.raw.headers.accept), type, clock, includeObject: asked as IncludeObject };
}

async function readJson(request: ApiRequest): Promise<unknown> {
  const body = await readBody(request);
  try {
    return JSON.parse(body.toString());
  } catch (error) {
    throw badRequest(
      `the object provided is unrecognized: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** Completes and checks what a caller wants stored. */
function draftOf(body: unknown, target: ResourceTarget, type: ResourceType): NewObject {
  const name = fieldAt(body, 'metadata', 'name') ?? target.name;
  if (typeof name !== 'string' || name === '') throw badRequest('name or generateName is required');
  if (target.name !== undefined && target.name !== name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${target.name})`);
  }
  const { metadata, ...rest } = body as NewObject;
  const namespace = type.isNamespaced ? { namespace: target.namespace ?? 'default' } : {};
  return {
    ...rest,
    kind: type.kind,
    apiVersion: groupVersion(type),
    metadata: { ...metadata, name, ...namespace },
  };
}

/** Leaves out what the server alone decides of a new object, which clients send empty, and adds a first status. */
function asNew(draft: NewObject, { initialStatus }: ResourceType): NewObject {
  const { creationTimestamp: _created, resourceVersion: _version, uid: _uid, ...metadata } = draft.metadata;
  const hasStatus = Object.keys((draft.status as object | null | undefined) ?? {}).length > 0;
  return { ...draft, metadata, ...(initialStatus && !hasStatus ? { status: initialStatus } : {}) };
}
