import { LruMap } from '#lib/cache/lru-map.ts';
import type { HttpClient } from '#lib/sources/http/http-client.ts';
import { HttpClients, type HttpClientsOptions } from '#lib/sources/http/http-clients.ts';
import type { CredentialSource } from '#lib/sources/http/http-credentials.ts';
import { type HttpRequester, observeRequests } from '#lib/sources/http/observed-requester.ts';
import { LabelledHistograms, MAX_LABEL_LENGTH } from '#lib/telemetry/sliced-registry.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { TriggerRequest } from './trigger.ts';

/** Sets of credentials whose clients are cached, and of those with open connections. */
const MAX_CLIENTS = 1000;

interface TriggerClientsOptions extends Omit<HttpClientsOptions, 'maxClients' | 'maxConnected'> {
  /** Records requests; by default they are not recorded. */
  readonly durations?: RequestDurations;
}

/** One HTTP client for each set of credentials. */
export class TriggerClients implements AsyncDisposable {
  readonly #options: TriggerClientsOptions;
  readonly #clients: HttpClients;

  constructor(options: TriggerClientsOptions) {
    this.#options = options;
    this.#clients = new HttpClients({ ...options, maxClients: MAX_CLIENTS, maxConnected: MAX_CLIENTS });
  }

  /** A client whose requests are counted for a trigger. */
  for(credentials: CredentialSource, { scaler, requests }: TriggerRequest): HttpRequester {
    const client = this.find(credentials);
    const { clock, durations } = this.#options;
    if (!durations || !requests) return client;
    const onEnded = (status: string, durationMs: number) => {
      requests.increment(status);
      durations.observe(scaler, status, durationMs);
    };
    return observeRequests(client, { clock, onEnded });
  }

  find(credentials: CredentialSource): HttpClient {
    return this.#clients.find({ credentials });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#clients[Symbol.asyncDispose]();
  }
}

/** Limits scaler names, which users choose; further ones are counted together. */
const MAX_SCALERS = 1000;
const OTHERS = 'others';
/** A name without requests for this time may be replaced: its objects are likely deleted. */
const IDLE_MS = 3_600_000;

/** Histogram of HTTP requests of triggers, with the name and labels of KEDA. */
export function requestDurations(clock: Clock) {
  const usedAtMs = new LruMap<string, number>({ max: MAX_SCALERS });
  const histograms = new LabelledHistograms({
    name: 'keda_scaler_http_request_duration_seconds',
    help: 'Duration of the HTTP requests that triggers send, in seconds',
    label: ['scaler', 'status_code'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  const hasRoom = (scaler: string, nowMs: number) => {
    if (usedAtMs.size < MAX_SCALERS || usedAtMs.peek(scaler) !== undefined) return true;
    const [oldest] = usedAtMs;
    if (!oldest || nowMs - oldest[1] < IDLE_MS) return false;
    usedAtMs.delete(oldest[0]);
    histograms.retain((key) => key.slice(0, key.lastIndexOf('\n')) !== oldest[0]); // name, status
    return true;
  };
  return {
    series: histograms,
    observe(given: string, status: string, durationMs: number): void {
      const scaler = given.slice(0, MAX_LABEL_LENGTH);
      const nowMs = clock.monotonicMs();
      const isNamed = hasRoom(scaler, nowMs);
      if (isNamed) usedAtMs.set(scaler, nowMs);
      histograms.observe([isNamed ? scaler : OTHERS, status], durationMs / 1000);
    },
  };
}

export type RequestDurations = ReturnType<typeof requestDurations>;
