import type { HttpClient } from '#lib/sources/http/http-client.ts';
import type { CredentialSource } from '#lib/sources/http/http-credentials.ts';

/** Of more, those planned the longest ago lose their connections, and make new ones if their queries still ask. */
const MOST_CLIENTS = 1000;

/** HTTP clients, one for each set of credentials. */
export class HttpClients implements AsyncDisposable {
  readonly #make: (credentials: CredentialSource) => HttpClient;
  readonly #clients = new Map<string, HttpClient>();

  constructor(make: (credentials: CredentialSource) => HttpClient) {
    this.#make = make;
  }

  for(credentials: CredentialSource): HttpClient {
    const { name } = credentials;
    const client = this.#clients.get(name) ?? this.#make(credentials);
    this.#clients.delete(name); // to the end
    this.#clients.set(name, client);
    const [oldest] = this.#clients;
    if (this.#clients.size > MOST_CLIENTS && oldest) {
      this.#clients.delete(oldest[0]);
      oldest[1].releaseConnections();
    }
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client[Symbol.asyncDispose]()));
  }
}
