import type { KubernetesObject } from '#simulator/objects/kubernetes-object.ts';
import { type HttpsRequest, requestHttps } from '#spec/support/https-request.ts';

/** A list response of the API server. */
export interface ObjectList {
  readonly items: readonly KubernetesObject[];
}

/** JSON client of a real API server. Shares no code with the server under test. */
export class ControlPlaneClient {
  readonly #server: string;
  readonly #credentials: HttpsRequest;

  constructor(server: string, credentials: HttpsRequest) {
    this.#server = server;
    this.#credentials = credentials;
  }

  async get<Shape = KubernetesObject>(path: string): Promise<Shape> {
    return (await this.#exchange('GET', path)) as Shape;
  }

  /** Leaves an existing object unchanged. */
  async create(path: string, object: object): Promise<KubernetesObject> {
    return (await this.#exchange('POST', path, object)) as KubernetesObject;
  }

  /** @param patch a strategic merge patch */
  async patch(path: string, patch: object): Promise<void> {
    await this.#exchange('PATCH', path, patch);
  }

  /** Deletes immediately, without a grace period. */
  async delete(path: string): Promise<void> {
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
    await this.#exchange('DELETE', path, options);
  }

  async #exchange(method: string, path: string, body?: object): Promise<unknown> {
    const text = body && JSON.stringify(body);
    const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
    const response = await requestHttps(`${this.#server}${path}`, {
      ...this.#credentials,
      method,
      headers: {
        Accept: 'application/json',
        // Node sends no Content-Length with a DELETE, and the API server then ignores the body.
        ...(text ? { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) } : {}),
      },
      ...(text ? { body: text } : {}),
    });
    if (response.status >= 300) throw new RefusedRequest(`Cannot ${method} ${path}`, response);
    return JSON.parse(response.body);
  }
}

/** An error response of the API server. */
export class RefusedRequest extends Error {
  readonly status: number;

  constructor(what: string, { status, body }: { readonly status: number; readonly body: string }) {
    super(`${what}: ${status} ${body.trim()}`);
    this.status = status;
  }
}
