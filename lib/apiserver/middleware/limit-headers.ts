import { MAX_ACCEPT_BYTES } from '#lib/apiserver/encoding/media-type.ts';
import type { ApiContext, Middleware } from '#lib/apiserver/http/api-context.ts';
import { MAX_HEADERS, MAX_PATH_BYTES, MAX_URL_BYTES } from '#lib/apiserver/http/request-bounds.ts';
import { badRequest, StatusError } from '#lib/apiserver/http/status-error.ts';
import type { ServingTelemetry } from '#lib/apiserver/serving/serving-telemetry.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';

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
  return (context) => {
    if (!hasPath(context)) {
      telemetry.recordRefusal('malformed');
      throw badRequest('the URL of the request has no path');
    }
    const failure = failureOf(context);
    if (!failure) return;
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
