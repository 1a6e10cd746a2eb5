import { MAX_ACCEPT_BYTES } from '#lib/apiserver/encoding/media-type.ts';
import type { ApiContext, Middleware } from '#lib/apiserver/http/api-context.ts';
import { parseQuery, percentDecode } from '#lib/apiserver/http/query-values.ts';
import { parseRequestInfo, type RequestInfo, splitPath } from '#lib/apiserver/http/request-info.ts';
import { badRequest, StatusError } from '#lib/apiserver/http/status-error.ts';
import { MAX_HEADERS } from '#lib/apiserver/serving/secure-server.ts';
import type { ServingTelemetry } from '#lib/apiserver/serving/serving-telemetry.ts';
import { memoize } from '#lib/cache/memoize.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { SelectorError } from '#lib/kubernetes/selectors/label-selector.ts';

/** Derives the request's attributes from path and query, and normalizes the path for routing. */
export const readRequest: Middleware = (context, next) => {
  const { state } = context;
  const { method, url = '' } = context.req;
  const { query, info, routedPath } = method === 'GET' ? readGet(url, context) : readUrl(context);
  state.query = query;
  state.info = info;
  if (routedPath !== context.path) context.path = routedPath;
  return next();
};

/** A selector or a query may have a hundred parts in 256 characters, and then takes 10 kB, as does an error. */
const MAX_PARTS = 10;

/** 2,000 autoscalers request 4,000 URLs in every cycle, each of which takes 1.4 kB. */
const readGet = memoize((_url, context: ApiContext) => readUrl(context), {
  ...{ maxEntries: 4096, maxLength: 256, isSmall },
});

interface ReadUrl {
  /** Immutable: requests for the same URL share it. */
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
  readonly routedPath: string;
}

function isSmall({ query, info }: ReadUrl): boolean {
  if (query.size > MAX_PARTS) return false;
  if (!info.isResourceRequest) return true;
  const { label, field } = info.selectors;
  return [label, field].every(
    ({ text, parsed }) => !(parsed instanceof SelectorError) && text.split(',').length <= MAX_PARTS,
  );
}

function readUrl({ method, path, querystring }: ApiContext): ReadUrl {
  const query = parseQuery(querystring);
  const decoded = decodePath(path);
  return { query, info: parseRequestInfo(method, decoded, query), routedPath: routedPathOf(decoded) };
}

/**
 * The path as routes match it: encoded again, since routes decode parameters. As in Kubernetes, trailing slashes of a
 * path in a group are ignored.
 */
function routedPathOf(decoded: string): string {
  const isTrimmed = decoded.endsWith('/') && /^\/(?:apis|version)\//.test(decoded);
  const trimmed = isTrimmed ? `/${splitPath(decoded).join('/')}` : decoded;
  return /[^\w\-./]/.test(trimmed) ? trimmed.split('/').map(encodeURIComponent).join('/') : trimmed;
}

function decodePath(path: string): string {
  const decoded = percentDecode(path);
  if (decoded === undefined) throw badRequest(`Cannot read the path ${path}: invalid percent-encoding`);
  return decoded;
}

/** Of path and query; selectors at their bound fit, with each byte of them encoded. */
const MAX_URL_BYTES = 128 * 1024;

/**
 * Of the path alone: for refused requests it is sent to the API server, and quoted. Real ones have a few hundred bytes.
 */
const MAX_PATH_BYTES = 8 * 1024;

/** Of each header that is parsed for any caller; real ones have less than a thousand bytes. */
const MAX_PARSED_BYTES = MAX_ACCEPT_BYTES;

/** Headers that are parsed for every request, beside credentials. */
const PARSED_HEADERS = [
  'Accept',
  'Accept-Encoding',
  'Cache-Control',
  'Content-Length',
  'Content-Type',
  'If-Modified-Since',
  'If-None-Match',
  'Range',
  'User-Agent',
].map((name) => ({ name, key: name.toLowerCase() }));

/**
 * Responds with 431 and 414 to requests with more to parse than any client needs, before any of it is parsed; and with
 * 400 to those without a path.
 */
export function limitHeaders(telemetry: ServingTelemetry): Middleware {
  return (context, next) => {
    if (!hasPath(context)) {
      telemetry.recordRefusal('malformed');
      throw badRequest('the URL of the request has no path');
    }
    const failure = failureOf(context);
    if (!failure) return next();
    telemetry.recordRefusal('headers_too_large');
    throw failure;
  };
}

/** HTTP/1.1 lets clients send whole URLs, and HTTP/2 any string if the scheme is not HTTP's. */
function hasPath(context: ApiContext): boolean {
  if (context.req.url?.startsWith('/')) return true;
  try {
    return Boolean(context.path);
  } catch {
    return false; // not a URL
  }
}

function failureOf(context: ApiContext): StatusError | undefined {
  const { rawHeaders, headers, url = '' } = context.req;
  if (url.length > MAX_URL_BYTES) {
    return tooLong(`the request URI has more than ${MAX_URL_BYTES} bytes`);
  }
  if (url.length > MAX_PATH_BYTES && context.path.length > MAX_PATH_BYTES) {
    return tooLong(`the path of the request has more than ${MAX_PATH_BYTES} bytes`);
  }
  if (rawHeaders.length / 2 > MAX_HEADERS) {
    return tooLarge(`the request has more than ${MAX_HEADERS} headers`);
  }
  for (const { name, key } of PARSED_HEADERS) {
    if ((getOwn(headers, key)?.length ?? 0) > MAX_PARSED_BYTES)
      return tooLarge(`the request header ${name} has more than ${MAX_PARSED_BYTES} bytes`);
  }
  return undefined;
}

function tooLong(message: string): StatusError {
  return new StatusError(414, 'RequestURITooLong', message);
}

function tooLarge(message: string): StatusError {
  return new StatusError(431, 'RequestHeaderFieldsTooLarge', message);
}
