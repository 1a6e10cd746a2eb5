import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../access/authenticator.ts';
import { splitUrl } from '../access/http-request.ts';
import { badRequest } from './status.ts';

const BODY_LIMIT_BYTES = 3 * 1024 * 1024;

/** One request to the API server, read as far as every handler needs it. */
export interface ApiRequest {
  readonly method: string;
  /** Path and query as they came. */
  readonly url: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly target: RequestTarget;
  readonly verb: string;
  readonly caller: Caller;
  readonly auditId: string;
  readonly style: ResponseStyle;
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborts when the caller is gone or the server closes. */
  readonly signal: AbortSignal;
}

/** Reads a request's line and headers; whose it is has been found out before. */
export function readRequest(
  raw: IncomingMessage,
  response: ServerResponse,
  { caller, signal }: { readonly caller: Caller; readonly signal: AbortSignal },
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
    style: {
      isPretty: isPretty(query, raw.headers['user-agent']),
      acceptsGzip: /\bgzip\b/.test(String(raw.headers['accept-encoding'] ?? '')),
    },
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

/** The real server indents for those who look like a person: by wish, or by the name of their program. */
function isPretty(query: URLSearchParams, userAgent = ''): boolean {
  const wish = query.get('pretty');
  return wish === null ? /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent) : isTrue(wish);
}

/** What a path of the API names. */
type RequestTarget = ResourceTarget | { readonly isResource: false; readonly path: string };

/** A resource, one of its objects, or a part of an object. */
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
 * Reads a path as `RequestInfo` of k8s.io/apiserver does: `/api/VERSION/…` and `/apis/GROUP/VERSION/…`, with
 * `namespaces/NAME/` before resources of a namespace.
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

/** What is no valid encoding stands for itself. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The verb that authorization knows a request by. */
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

/** What the API machinery takes for true in a query: anything but `false` and `0`. */
export function isTrue(text: string | null): boolean {
  return text !== null && !['false', '0'].includes(text.toLowerCase());
}

/** What the writer of a response must know of the request. */
export interface ResponseStyle {
  /** Indented by two spaces, for people. */
  readonly isPretty: boolean;
  readonly acceptsGzip: boolean;
}
