import type { ServerResponse } from 'node:http';
import { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import { ApiClient, type ApiClientOptions } from '#lib/kubernetes/client/api-client.ts';
import { LoopbackServer, type ReceivedRequest } from './loopback-server.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordingLogger } from './recording-logger.ts';

/** The response of a JSON API: an object, or an HTTP status with a Status. */
export type JsonResponse =
  | object
  | { readonly code: number; readonly reason: string; readonly retryAfterS?: number };

/** A JSON server on loopback whose responses the spec sets, and a client of it. */
export interface JsonApi extends AsyncDisposable {
  readonly api: ApiClient;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly server: LoopbackServer;
  /** The received requests, as in `GET /api/v1/nodes?limit=500`. */
  readonly requested: readonly string[];
}

/** Starts a server; a request whose response is `undefined` never completes. */
export async function startJsonApi(
  respond: (request: ReceivedRequest) => JsonResponse | undefined | Promise<JsonResponse | undefined>,
  options: Partial<ApiClientOptions> | ((clock: ManualClock) => Partial<ApiClientOptions>) = {},
): Promise<JsonApi> {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const server = await LoopbackServer.start(async (request, response) =>
    send(response, await respond(request)),
  );
  const tls = {
    ca: undefined,
    cert: undefined,
    key: undefined,
    servername: undefined,
    rejectUnauthorized: true,
  };
  const load = async () => ({ tls, authorization: undefined });
  const access = await ClusterAccess.open({ server: server.url, proxy: undefined, load }, { clock, logger });
  const more = typeof options === 'function' ? options(clock) : options;
  const api = new ApiClient({ access, clock, userAgent: 'spec', ...more });
  return {
    api,
    clock,
    logger,
    server,
    get requested() {
      return server.requests.map(({ method, url }) => `${method} ${url.pathname}${url.search}`);
    },
    [Symbol.asyncDispose]: async () => {
      await api[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** An error response of the API server. */
export function refusal(code: number, reason: string, retryAfterS?: number): JsonResponse {
  return { code, reason, ...(retryAfterS !== undefined && { retryAfterS }) };
}

function send(response: ServerResponse, body: JsonResponse | undefined): void {
  if (body === undefined) return;
  if (!('code' in body)) {
    response.end(JSON.stringify(body));
    return;
  }
  const { code, reason, retryAfterS } = body;
  response.writeHead(code, retryAfterS === undefined ? {} : { 'retry-after': `${retryAfterS}` });
  response.end(JSON.stringify({ kind: 'Status', code, reason, message: `it is ${reason}` }));
}
