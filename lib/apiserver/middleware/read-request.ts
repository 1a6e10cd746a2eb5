import { badRequest } from '#lib/apiserver/errors/failures.ts';
import type { Middleware } from '#lib/apiserver/http/api-context.ts';
import { parseQuery, percentDecode } from '#lib/apiserver/http/query-values.ts';
import { parseRequestInfo } from '#lib/apiserver/http/request-info.ts';

/** Reads from path and query what the request is about. */
export const readRequest: Middleware = (context, next) => {
  const query = parseQuery(context.querystring);
  context.state.query = query;
  context.state.info = parseRequestInfo(context.method, decodePath(context.path), query);
  return next();
};

function decodePath(path: string): string {
  const decoded = percentDecode(path);
  if (decoded === undefined) throw badRequest(`Cannot read the path ${path}: invalid percent-encoding`);
  return decoded;
}
