import type { KubernetesObject } from '#simulator/objects/kubernetes-object.ts';
import { type HttpsRequest, requestHttps } from '#spec/support/https-request.ts';

/** A list as the API server responds with it. */
export interface ObjectList {
  readonly items: readonly KubernetesObject[];
}

/** Talks JSON with a real API server, and shares no code with the server that it is to prove. */
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

  /** What is there already stays as it is. */
  async create(path: string, object: object): Promise<KubernetesObject> {
    return (await this.#exchange('POST', path, object)) as KubernetesObject;
  }

  /** @param patch merged as strategic merge patches are */
  async patch(path: string, patch: object): Promise<void> {
    await this.#exchange('PATCH', path, patch);
  }

  /** At once, without a period of grace. */
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
        // Node leaves the length of a DELETE's body untold, and the server then takes it for none.
        ...(text ? { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) } : {}),
      },
      ...(text ? { body: text } : {}),
    });
    if (response.status >= 300) throw new RefusedRequest(`Cannot ${method} ${path}`, response);
    return JSON.parse(response.body);
  }
}

/** The API server's refusal. */
export class RefusedRequest extends Error {
  readonly status: number;

  constructor(what: string, { status, body }: { readonly status: number; readonly body: string }) {
    super(`${what}: ${status} ${body.trim()}`);
    this.status = status;
  }
}
