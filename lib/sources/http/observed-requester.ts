import type { Clock } from '#lib/time/clock.ts';
import { type HttpClient, unexpectedStatus } from './http-client.ts';

/** What sends requests over HTTP: a client, or one that is watched. */
export type HttpRequester = Pick<HttpClient, 'credentialName' | 'exchange' | 'read'>;

/** These are told as they are; a server that makes statuses up must not make series without end. */
const USUAL_STATUSES: ReadonlySet<number> = new Set([
  200, 204, 301, 302, 307, 400, 401, 403, 404, 429, 500, 502, 503, 504,
]);

/** Who is told of requests. */
interface RequestObserver {
  readonly clock: Clock;
  /** @param status that of the response, of an unusual one its class as in `4xx`; `error` where there was none */
  readonly onEnded: (status: string, durationMs: number) => void;
}

/** The same client, of whose requests somebody is told. */
export function observeRequests(http: HttpRequester, { clock, onEnded }: RequestObserver): HttpRequester {
  const exchange: HttpRequester['exchange'] = async (request, signal) => {
    const startedAtMs = clock.monotonicMs();
    let status = 'error';
    try {
      const response = await http.exchange(request, signal);
      status = labelOfStatus(response.statusCode);
      return response;
    } finally {
      onEnded(status, clock.monotonicMs() - startedAtMs);
    }
  };
  return {
    credentialName: http.credentialName,
    exchange,
    async read(request, signal) {
      const { statusCode, body } = await exchange(request, signal);
      if (statusCode !== 200) throw unexpectedStatus(request.url, statusCode);
      return body;
    },
  };
}

function labelOfStatus(statusCode: number): string {
  if (USUAL_STATUSES.has(statusCode)) return `${statusCode}`;
  return statusCode >= 100 && statusCode < 600 ? `${Math.floor(statusCode / 100)}xx` : 'other';
}
