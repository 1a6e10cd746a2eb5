import type { ClusterClient } from './cluster-client.ts';

/** A response in the form that specs read. */
export interface PlainResponse {
  readonly status: number;
  // Untyped: each spec asserts the content of a body.
  readonly body: ReturnType<typeof JSON.parse>;
  readonly headers: Readonly<Record<string, unknown>>;
}

export const PATCH_TYPES = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** One method for each verb of the API, without retries, caches or validation. */
export class PlainClient {
  readonly #client: ClusterClient;

  constructor(client: ClusterClient) {
    this.#client = client;
  }

  get(path: string, accept = 'application/json'): Promise<PlainResponse> {
    return this.#send('GET', path, undefined, { Accept: accept });
  }

  post(path: string, body: unknown): Promise<PlainResponse> {
    return this.#send('POST', path, body, { 'Content-Type': 'application/json' });
  }

  put(path: string, body: unknown): Promise<PlainResponse> {
    return this.#send('PUT', path, body, { 'Content-Type': 'application/json' });
  }

  patch(path: string, type: keyof typeof PATCH_TYPES, body: unknown): Promise<PlainResponse> {
    return this.#send('PATCH', path, body, { 'Content-Type': PATCH_TYPES[type] });
  }

  /** Server-side apply as a field manager. */
  apply(
    path: string,
    body: unknown,
    { manager, force = false }: { manager: string; force?: boolean },
  ): Promise<PlainResponse> {
    return this.patch(`${path}?fieldManager=${encodeURIComponent(manager)}&force=${force}`, 'apply', body);
  }

  delete(path: string, options?: unknown): Promise<PlainResponse> {
    return this.#send('DELETE', path, options, {});
  }

  async #send(
    method: string,
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>>,
  ): Promise<PlainResponse> {
    const text = body === undefined ? '' : JSON.stringify(body);
    const response = await this.#client.request(path, {
      method,
      // Node sends a DELETE body without a length unless one is set.
      headers: { 'User-Agent': 'spec/1', 'Content-Length': String(Buffer.byteLength(text)), ...headers },
      body: text,
    });
    return { status: response.status, headers: response.headers, body: JSON.parse(response.body) };
  }
}
