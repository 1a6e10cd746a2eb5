import { LruMap } from '#lib/cache/lru-map.ts';
import { LongResponses } from '#lib/concurrency/long-responses.ts';
import { HttpClient, type HttpClientOptions } from './http-client.ts';
import type { CredentialSource } from './http-credentials.ts';

/** Clients with equal options are shared. */
interface HttpClientChoice {
  readonly credentials?: CredentialSource | undefined;
  readonly connectTimeoutMs?: number | undefined;
}

export interface HttpClientsOptions extends Omit<HttpClientOptions, keyof HttpClientChoice | 'onUse'> {
  /** Cached clients; queries continue to use evicted ones. By default 256. */
  readonly maxClients?: number;
  /** Clients with open connections; by default 64. */
  readonly maxConnected?: number;
}

const MAX_CLIENTS = 256;
const MAX_CONNECTED = 64;

/**
 * Clients for the credentials of configurations, which untrusted users may write in any number. The least recently used
 * clients close their connections, and open new ones when they are used again.
 */
export class HttpClients implements AsyncDisposable {
  readonly #options: HttpClientOptions;
  readonly #cached: LruMap<string, HttpClient>;
  readonly #connected: LruMap<HttpClient, HttpClient>;
  #isClosed = false;

  constructor({ maxClients = MAX_CLIENTS, maxConnected = MAX_CONNECTED, ...options }: HttpClientsOptions) {
    this.#options = { longResponses: new LongResponses(), ...options };
    this.#cached = new LruMap({ max: maxClients });
    this.#connected = new LruMap({ max: maxConnected, onEvict: (client) => client.releaseConnections() });
  }

  /** Returns the same client for equal choices while it is cached. */
  find({ credentials, connectTimeoutMs }: HttpClientChoice = {}): HttpClient {
    const key = JSON.stringify([credentials?.name, connectTimeoutMs]);
    const make = () =>
      new HttpClient({
        ...this.#options,
        ...(credentials && { credentials }),
        ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
        onUse: (used) => this.#use(used),
      });
    return this.#cached.getOrSet(key, make);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#connected.values()].map((client) => client[Symbol.asyncDispose]()));
  }

  #use(client: HttpClient): void {
    if (this.#isClosed) throw new Error('the client is closed');
    this.#connected.set(client, client);
  }
}
