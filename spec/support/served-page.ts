import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import { type HttpsRequest, type HttpsResponse, requestHttps } from './https-request.ts';
import { startTestApiServer } from './test-api-server.ts';

/** One endpoint on a real server. */
export interface ServedPage extends AsyncDisposable {
  /** @param query with its question mark */
  get(query?: string, options?: HttpsRequest): Promise<HttpsResponse>;
}

/** Serves an endpoint without access control; use with `await using`. */
export async function servePage(endpoint: Endpoint): Promise<ServedPage> {
  const server = await startTestApiServer({ endpoints: new Map([['/page', endpoint]]) });
  const url = `https://127.0.0.1:${server.address.port}/page`;
  return {
    get: (query = '', options = {}) =>
      requestHttps(`${url}${query}`, { rejectUnauthorized: false, ...options }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
