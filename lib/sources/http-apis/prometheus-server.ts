import {
  type HttpClient,
  type HttpRequest,
  type HttpResponse,
  unexpectedStatus,
} from '../http/http-client.ts';
import { type Query, shorten } from '../query.ts';
import type { Sample } from '../sample.ts';
import { readQueryError, readQueryResponse } from './read-prometheus-response.ts';

interface PrometheusServerOptions {
  readonly http: HttpClient;
  /** Base URL of the API. */
  readonly url: URL;
}

/** Statuses by which a server or proxy rejects POST. */
const POST_REFUSED = [405, 501];

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
      run: (signal) => this.#run(text, signal),
    };
  }

  async #run(text: string, signal: AbortSignal): Promise<readonly Sample[]> {
    const { statusCode, body, secrets } = await this.#exchange(text, signal);
    if (statusCode !== 200) {
      const why = readQueryError(body);
      throw unexpectedStatus(this.#endpoint, statusCode, why && secrets.redact(why));
    }
    try {
      return readQueryResponse(body);
    } catch (error) {
      const cause = secrets.redactError(error);
      throw new Error(`Cannot read response of Prometheus at ${this.#endpoint.host}`, { cause });
    }
  }

  async #exchange(text: string, signal: AbortSignal): Promise<HttpResponse> {
    const { http } = this.#options;
    if (this.#acceptsPost) {
      const response = await http.exchange(this.#post(text), signal);
      if (!POST_REFUSED.includes(response.statusCode)) return response;
    }
    const url = new URL(this.#endpoint);
    url.searchParams.set('query', text);
    const response = await http.exchange({ url }, signal);
    if (response.statusCode === 200) this.#acceptsPost = false;
    return response;
  }

  #post(text: string): HttpRequest {
    const body = new URLSearchParams({ query: text }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return { url: this.#endpoint, method: 'POST', headers, body };
  }
}
