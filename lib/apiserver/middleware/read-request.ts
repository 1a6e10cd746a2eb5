import { badRequest } from '#lib/apiserver/failures.ts';
import { percentDecode } from '#lib/apiserver/percent-encoding.ts';
import { parseQuery } from '#lib/apiserver/query-values.ts';
import { parseRequestInfo } from '#lib/apiserver/request-info.ts';
import type { Middleware } from './api-context.ts';

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
