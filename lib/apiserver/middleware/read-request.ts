import type { ApiContext, Middleware } from '#lib/apiserver/http/api-context.ts';
import { parseQuery, percentDecode } from '#lib/apiserver/http/query-values.ts';
import { parseRequestInfo, type RequestInfo } from '#lib/apiserver/http/request-info.ts';
import { badRequest } from '#lib/apiserver/http/status-error.ts';
import { remembering } from '#lib/cache/memoize.ts';
import { SelectorError } from '#lib/kubernetes/selectors/selector-error.ts';

/** Reads from path and query what the request is about. */
export const readRequest: Middleware = (context) => {
  const { state } = context;
  const { method, url = '' } = context.req;
  const { query, info } = method === 'GET' ? readGet(url, context) : readUrl(context);
  state.query = query;
  state.info = info;
};

/** 2,000 autoscalers ask for 4,000 URLs in every cycle, each of which takes 1.4 kB. */
const readGet = remembering((_url, context: ApiContext) => readUrl(context), {
  ...{ most: 4096, longest: 256, isSmall },
});

interface ReadUrl {
  /** Never changed: requests for the same URL share it. */
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
}

/** A selector, or a query, may have a hundred parts in 256 characters, and then takes 10 kB, as an error does, too. */
const MOST_PARTS = 10;

function isSmall({ query, info }: ReadUrl): boolean {
  if (query.size > MOST_PARTS) return false;
  if (!info.isResourceRequest) return true;
  const { label, field } = info.selectors;
  return [label, field].every(
    ({ text, parsed }) => !(parsed instanceof SelectorError) && text.split(',').length <= MOST_PARTS,
  );
}

function readUrl({ method, path, querystring }: ApiContext): ReadUrl {
  const query = parseQuery(querystring);
  return { query, info: parseRequestInfo(method, decodePath(path), query) };
}

function decodePath(path: string): string {
  const decoded = percentDecode(path);
  if (decoded === undefined) throw badRequest(`Cannot read the path ${path}: invalid percent-encoding`);
  return decoded;
}
