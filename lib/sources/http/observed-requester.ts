import type { Clock } from '#lib/time/clock.ts';
import type { HttpClient } from './http-client.ts';

/** An HTTP client, observed or not. */
export type HttpRequester = Pick<HttpClient, 'credentialName' | 'exchange'>;

/** Reported as they are. Other statuses are grouped, so that a server cannot create any number of series. */
const USUAL_STATUSES: ReadonlySet<number> = new Set([
  200, 204, 301, 302, 307, 400, 401, 403, 404, 429, 500, 502, 503, 504,
]);

interface RequestObserver {
  readonly clock: Clock;
  /** @param status of the response; `4xx` or the like for an unusual one, `error` without a response */
  readonly onEnded: (status: string, durationMs: number) => void;
}

/** Wraps a client to observe its requests. */
export function observeRequests(http: HttpRequester, { clock, onEnded }: RequestObserver): HttpRequester {
  return {
    credentialName: http.credentialName,
    async exchange(request, signal) {
      const startedAtMs = clock.monotonicMs();
      let status = 'error';
      try {
        const response = await http.exchange(request, signal);
        status = labelOfStatus(response.statusCode);
        return response;
      } finally {
        onEnded(status, clock.monotonicMs() - startedAtMs);
      }
    },
  };
}

function labelOfStatus(statusCode: number): string {
  if (USUAL_STATUSES.has(statusCode)) return `${statusCode}`;
  return statusCode >= 100 && statusCode < 600 ? `${Math.floor(statusCode / 100)}xx` : 'other';
}
