import { LruMap } from '#lib/cache/lru-map.ts';
import { LongResponses } from '#lib/concurrency/long-responses.ts';
import { HttpClient, type HttpClientOptions } from './http-client.ts';
import type { CredentialSource } from './http-credentials.ts';

/** Clients with equal options are shared. */
interface HttpClientChoice {
  readonly credentials?: CredentialSource | undefined;
  readonly connectTimeoutMs?: number | undefined;
}

/** Cached clients; queries continue to use evicted ones. */
const MAX_CACHED = 256;
/** Clients with open connections. */
const MAX_CONNECTED = 64;

/**
 * Clients for the credentials of configurations, which untrusted users may write in any number. The least recently used
 * clients close their connections, and open new ones when they are used again.
 */
export class HttpClients implements AsyncDisposable {
  readonly #options: HttpClientOptions;
  readonly #cached = new LruMap<string, HttpClient>({ max: MAX_CACHED });
  readonly #connected = new LruMap<HttpClient, HttpClient>({
    max: MAX_CONNECTED,
    onEvict: (client) => client.releaseConnections(),
  });
  readonly #longResponses: LongResponses;
  #isClosed = false;

  constructor(options: Omit<HttpClientOptions, keyof HttpClientChoice | 'onUse'>) {
    this.#options = options;
    this.#longResponses = options.longResponses ?? new LongResponses();
  }

  /** Returns the same client for equal choices while it is cached. */
  find({ credentials, connectTimeoutMs }: HttpClientChoice = {}): HttpClient {
    const key = JSON.stringify([credentials?.name, connectTimeoutMs]);
    const make = () =>
      new HttpClient({
        ...this.#options,
        longResponses: this.#longResponses,
        ...(credentials && { credentials }),
        ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
        onUse: (used) => this.#use(used),
      });
    return this.#cached.getOrSet(key, make);
  }

  /** Number of clients with open connections. */
  get connectedCount(): number {
    return this.#connected.size;
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
