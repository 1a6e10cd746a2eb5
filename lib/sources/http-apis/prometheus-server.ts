import type { Clock } from '#lib/time/clock.ts';
import { formatTimestamp } from '#lib/time/timestamp.ts';
import { extractResult, formatStatus, type HttpRequest, type HttpResponse } from '../http/http-client.ts';
import type { HttpRequester } from '../http/observed-requester.ts';
import { digest, type Query, shorten } from '../query.ts';
import { readPrometheusValue, readQueryError, readQueryResponse } from './read-prometheus-response.ts';

interface PrometheusServerOptions {
  readonly http: HttpRequester;
  /** Base URL of the API. */
  readonly url: URL;
}

/** How {@link PrometheusServer.valueQuery} requests and reads. */
interface ValueOptions {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** In addition to `query` and `time`. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Whether an empty result is 0 instead of an error. */
  readonly isEmptyZero: boolean;
}

/** Statuses by which a server or proxy rejects POST. */
const POST_REFUSED = [405, 501];
const SHOWN_LENGTH = 200;

/** A server with the HTTP API of Prometheus. */
export class PrometheusServer {
  readonly #options: PrometheusServerOptions;
  readonly #endpoint: URL;
  #acceptsPost = true;

  constructor(options: PrometheusServerOptions) {
    this.#options = options;
    this.#endpoint = new URL(options.url);
    this.#endpoint.pathname = `${options.url.pathname.replace(/\/$/, '')}/api/v1/query`;
  }

  /** Creates an instant query, which is evaluated when it is run. */
  query(text: string): Query {
    const { http } = this.#options;
    return {
      key: JSON.stringify(['prometheus', this.#endpoint.href, http.credentialName, text]),
      description: `${shorten(text)} of Prometheus at ${this.#endpoint.host}`,
      source: this.#endpoint.host,
      run: async (signal) =>
        extractResult(await this.#exchange(text, signal), {
          ...{ url: this.#endpoint, system: 'Prometheus' },
          ...{ parse: readQueryResponse, findReason: readQueryError },
        }),
    };
  }

  /** Creates an instant query for one value, requested and read as KEDA does. */
  valueQuery(text: string, { clock, parameters, headers, timeoutMs, isEmptyZero }: ValueOptions): Query {
    const { http } = this.#options;
    const endpoint = this.#get(text);
    for (const [name, value] of parameters) endpoint.searchParams.append(name, value);
    const identity = [endpoint.href, http.credentialName, isEmptyZero, timeoutMs];
    return {
      key: JSON.stringify(['prometheus-trigger', ...identity, digest(headers)]), // may select a tenant
      description: `${text.slice(0, SHOWN_LENGTH)} of Prometheus at ${endpoint.host}`,
      source: endpoint.host,
      async run(signal) {
        const url = new URL(endpoint);
        url.searchParams.set('time', formatTimestamp(clock.nowMs()));
        const { statusCode, body, secrets } = await http.exchange({ url, headers, timeoutMs }, signal);
        if (statusCode < 200 || statusCode > 299) {
          const reason = readQueryError(body);
          const detail = reason === undefined ? '' : `: ${secrets.redact(reason)}`;
          throw new Error(
            `prometheus query api returned error. status: ${formatStatus(statusCode)}${detail}`,
          );
        }
        const value = readPrometheusValue(body, { query: text, isEmptyZero });
        return [value === undefined ? { value: 0, labels: {}, isPlaceholder: true } : { value, labels: {} }];
      },
    };
  }

  async #exchange(text: string, signal: AbortSignal): Promise<HttpResponse> {
    const { http } = this.#options;
    if (this.#acceptsPost) {
      const response = await http.exchange(this.#post(text), signal);
      if (!POST_REFUSED.includes(response.statusCode)) return response;
    }
    const response = await http.exchange({ url: this.#get(text) }, signal);
    if (response.statusCode === 200) this.#acceptsPost = false;
    return response;
  }

  #get(text: string): URL {
    const url = new URL(this.#endpoint);
    url.searchParams.set('query', text);
    return url;
  }

  #post(text: string): HttpRequest {
    const body = new URLSearchParams({ query: text }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return { url: this.#endpoint, method: 'POST', headers, body };
  }
}
