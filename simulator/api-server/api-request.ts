import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../access/authenticator.ts';
import { splitUrl } from '../access/http-request.ts';
import { isTrue, type RequestTarget, requestTarget, verbOf } from './request-target.ts';
import type { ResponseStyle } from './respond.ts';
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
