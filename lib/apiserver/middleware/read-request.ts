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

/** Reads from path and query what the request is about, and gives the path the one form that routes match. */
export const readRequest: Middleware = (context, next) => {
  const { state } = context;
  const { method, url = '' } = context.req;
  const { query, info, routedPath } = method === 'GET' ? readGet(url, context) : readUrl(context);
  state.query = query;
  state.info = info;
  if (routedPath !== context.path) context.path = routedPath;
  return next();
};

/** A selector, or a query, may have a hundred parts in 256 characters, and then takes 10 kB, as an error does, too. */
const MAX_PARTS = 10;

/** 2,000 autoscalers ask for 4,000 URLs in every cycle, each of which takes 1.4 kB. */
const readGet = memoize((_url, context: ApiContext) => readUrl(context), {
  ...{ maxEntries: 4096, maxLength: 256, isSmall },
});

interface ReadUrl {
  /** Never changed: requests for the same URL share it. */
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
 * The path as routes are matched with it: encoded again, for they decode parameters; as in Kubernetes, slashes at the end of a
 * path in a group make no difference.
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

/** How long a request's path with its query may be; selectors at their bound fit in, each byte of them encoded. */
const MAX_URL_BYTES = 128 * 1024;

/** How long the path alone may be: what is denied is asked the API server for, and quoted. Real ones have a few hundred bytes. */
const MAX_PATH_BYTES = 8 * 1024;

/** How long each header may be that is parsed for anybody; real ones have less than a thousand bytes. */
const MAX_PARSED_BYTES = MAX_ACCEPT_BYTES;

/** What is looked into of every request, beside what tells whose it is. */
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
 * Responds with 431 and 414 to requests with more to read than any client has need of, before anything of it is read; and
 * with 400 to those without a path.
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

/** HTTP/1.1 lets clients send whole URLs, and HTTP/2 any text where the scheme is not that of HTTP. */
function hasPath(context: ApiContext): boolean {
  if (context.req.url?.startsWith('/')) return true;
  try {
    return Boolean(context.path);
  } catch {
    return false; // no URL
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
