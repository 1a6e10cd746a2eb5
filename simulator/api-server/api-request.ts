import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { UserInfo } from '../access/authenticator.ts';
import { splitUrl } from '../access/http-request.ts';
import { badRequest } from './status.ts';

const BODY_LIMIT_BYTES = 3 * 1024 * 1024;

/** One request to the API server, parsed as far as all handlers need. */
export interface ApiRequest {
  readonly method: string;
  /** Path and query as received. */
  readonly url: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly target: RequestTarget;
  readonly verb: string;
  readonly caller: UserInfo;
  readonly auditId: string;
  readonly acceptsGzip: boolean;
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborts when the caller disconnects or the server closes. */
  readonly signal: AbortSignal;
}

/** Reads a request's line and headers; its user is authenticated before. */
export function readRequest(
  raw: IncomingMessage,
  response: ServerResponse,
  { caller, signal }: { readonly caller: UserInfo; readonly signal: AbortSignal },
): ApiRequest {
  const { method = 'GET', url = '/' } = raw;
  const { path, query } = splitUrl(url);
  const target = requestTarget(path);
  const auditId = raw.headers['audit-id'];
  return {
    method,
    url,
    path,
    query,
    target,
    verb: verbOf(method, target, query),
    caller,
    auditId: typeof auditId === 'string' ? auditId : randomUUID(),
    acceptsGzip: /\bgzip\b/.test(String(raw.headers['accept-encoding'] ?? '')),
    raw,
    response,
    signal,
  };
}

/** @throws ApiError 400 when the body is too large */
export async function readBody({ raw }: ApiRequest): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of raw) {
    length += chunk.length;
    if (length > BODY_LIMIT_BYTES) throw badRequest('the request body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The target of a path of the API. */
type RequestTarget = ResourceTarget | { readonly isResource: false; readonly path: string };

/** A resource, an object, or a subresource of an object. */
export interface ResourceTarget {
  readonly isResource: true;
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/**
 * Parses a path as `RequestInfo` of k8s.io/apiserver does: `/api/VERSION/…` and `/apis/GROUP/VERSION/…`, with
 * `namespaces/NAME/` before namespaced resources.
 */
export function requestTarget(path: string): RequestTarget {
  const segments = path.split('/').filter(Boolean).map(decode);
  const [prefix, ...rest] = segments;
  const group = prefix === 'api' ? '' : prefix === 'apis' ? rest.shift() : undefined;
  const version = rest.shift();
  if (group === undefined || version === undefined || rest.length === 0) return { isResource: false, path };
  const namespace = rest[0] === 'namespaces' && rest.length > 2 ? rest[1] : undefined;
  // A namespace's own subresources look like resources in it, but are not.
  const isNamespaceItself = namespace !== undefined && ['status', 'finalize'].includes(rest[2] ?? '');
  const named = namespace === undefined || isNamespaceItself ? rest : rest.slice(2);
  const [resource = '', name, subresource] = named;
  return {
    isResource: true,
    path,
    group,
    version,
    resource,
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined || isNamespaceItself ? {} : { namespace }),
  };
}

/** Decodes a segment; an invalid encoding is returned unchanged. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The verb of a request for authorization. */
export function verbOf(method: string, target: RequestTarget, query: URLSearchParams): string {
  if (!target.isResource) return method.toLowerCase();
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return target.name === undefined ? 'deletecollection' : 'delete';
    default:
      if (target.name !== undefined) return 'get';
      return isTrue(query.get('watch')) ? 'watch' : 'list';
  }
}

/** Whether a query parameter is true for the API machinery: anything but `false` and `0`. */
export function isTrue(text: string | null): boolean {
  return text !== null && !['false', '0'].includes(text.toLowerCase());
}
