import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../../access/authenticator.ts';
import type { ApiRequest } from '../api-request.ts';

// What belongs to one connection, or to the API server alone, is not passed on.
const NOT_FORWARDED =
  /^(:.*|authorization|connection|host|http2-settings|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|x-forwarded-(host|proto|uri)|x-remote-.*)$/;

/** The headers that an aggregated server gets: the caller's own, who the caller is, and where the request came from. */
export function forwardedHeaders(
  request: ApiRequest,
  backend: { readonly host: string; readonly port: number },
  caller: Caller,
): Record<string, string | readonly string[]> {
  const { headers, socket } = request.raw;
  const forwarded: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !NOT_FORWARDED.test(name)) forwarded[name] = value;
  }
  const clients = [headers['x-forwarded-for'], socket.remoteAddress]
    .flat()
    .filter((one) => one !== undefined);
  return {
    ...forwarded,
    'Audit-Id': request.auditId,
    'X-Forwarded-For': clients.join(', '),
    'X-Forwarded-Host': `${backend.host}:${backend.port}`,
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Uri': request.path,
    'X-Remote-User': caller.username,
    ...(caller.groups.length === 0 ? {} : { 'X-Remote-Group': caller.groups }),
    ...(caller.uid === undefined ? {} : { 'X-Remote-Uid': caller.uid }),
    ...extraHeaders(caller),
  };
}

/** What of an aggregated server's response reaches the caller, next to the API server's own. */
export function* returnedHeaders(headers: IncomingHttpHeaders): Generator<[string, string | string[]]> {
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || /^(:.*|connection|keep-alive|transfer-encoding|upgrade)$/.test(name)) continue;
    yield [name, value];
  }
}

function extraHeaders({ extra = {} }: Caller): Record<string, readonly string[]> {
  return Object.fromEntries(
    Object.entries(extra).map(([key, values]) => [`X-Remote-Extra-${escapeHeaderKey(key)}`, values]),
  );
}

/** Percent-encodes what a header's name can't hold. */
function escapeHeaderKey(key: string): string {
  return key.replace(/[^A-Za-z0-9!#$&'*+.^_`|~-]/g, (character) => encodeURIComponent(character));
}
