import { LruMap } from '#lib/cache/lru-map.ts';
import { LongResponses } from '#lib/concurrency/long-responses.ts';
import { HttpClient, type HttpClientOptions } from './http-client.ts';
import type { CredentialSource } from './http-credentials.ts';

/** What tells one client from another. */
export interface HttpClientChoice {
  readonly credentials?: CredentialSource | undefined;
  readonly connectTimeoutMs?: number | undefined;
}

/** Of clients that are found again; a query that holds another goes on using it. */
const MAX_CACHED = 256;
/** Of clients that keep connections. */
const MAX_CONNECTED = 64;

/**
 * Clients for whatever credentials configurations hold, of which anybody may write more and more: those that were used
 * longest ago lose their connections, and make new ones when they are used again.
 */
export class HttpClients implements AsyncDisposable {
  readonly #options: HttpClientOptions;
  readonly #cached = new LruMap<string, HttpClient>({ max: MAX_CACHED });
  readonly #connected = new LruMap<HttpClient, HttpClient>({
    max: MAX_CONNECTED,
    onEvict: (client) => client.releaseConnections(),
  });
  readonly #longResponses = new LongResponses();
  #isClosed = false;

  constructor(options: Omit<HttpClientOptions, keyof HttpClientChoice | 'onUse' | 'longResponses'>) {
    this.#options = options;
  }

  /** The same client for equal choices, for as long as it is among those that were used last. */
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

  /** How many clients keep connections. */
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
