import type { HttpClient } from '#lib/sources/http/http-client.ts';
import type { CredentialSource } from '#lib/sources/http/http-credentials.ts';
import { type HttpRequester, watchedRequester } from '#lib/sources/http/observed-requester.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { RequestDurations } from './request-durations.ts';
import { scalerName } from './scaler-names.ts';
import type { TriggerRequest } from './trigger.ts';

/** Of more, those planned the longest ago lose their connections, and make new ones if their queries still ask. */
const MOST_CLIENTS = 1000;

/** Who is told of requests. */
export interface RequestWatch {
  readonly clock: Clock;
  readonly durations: RequestDurations;
}

/** HTTP clients, one for each set of credentials. */
export class TriggerClients implements AsyncDisposable {
  readonly #make: (credentials: CredentialSource) => HttpClient;
  readonly #clients = new Map<string, HttpClient>();

  readonly #watch: RequestWatch | undefined;

  constructor(make: (credentials: CredentialSource) => HttpClient, watch?: RequestWatch) {
    this.#make = make;
    this.#watch = watch;
  }

  /** The client of some credentials; its requests count as those of a trigger. */
  for(credentials: CredentialSource, { name, type, requests }: TriggerRequest): HttpRequester {
    const client = this.find(credentials);
    const watch = this.#watch;
    if (!watch || !requests) return client;
    const scaler = scalerName({ name, type });
    const onEnded = (status: string, durationMs: number) => {
      requests.note(status);
      watch.durations.observe(scaler, status, durationMs);
    };
    return watchedRequester(client, { clock: watch.clock, onEnded });
  }

  find(credentials: CredentialSource): HttpClient {
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
