import { LruMap } from '#lib/cache/lru-map.ts';
import type { HttpClient } from '#lib/sources/http/http-client.ts';
import type { CredentialSource } from '#lib/sources/http/http-credentials.ts';
import { type HttpRequester, observeRequests } from '#lib/sources/http/observed-requester.ts';
import { LabelledHistograms } from '#lib/telemetry/sliced-registry.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { TriggerRequest } from './trigger.ts';

/** Beyond this, the least recently prepared clients close their connections, and reconnect if they are still queried. */
const MAX_CLIENTS = 1000;

/** Records requests. */
interface RequestObserver {
  readonly clock: Clock;
  readonly durations: RequestDurations;
}

/** One HTTP client for each set of credentials. */
export class TriggerClients implements AsyncDisposable {
  readonly #make: (credentials: CredentialSource) => HttpClient;
  readonly #clients = new LruMap<string, HttpClient>({
    max: MAX_CLIENTS,
    onEvict: (client) => client.releaseConnections(),
  });
  readonly #watch: RequestObserver | undefined;

  constructor(make: (credentials: CredentialSource) => HttpClient, watch?: RequestObserver) {
    this.#make = make;
    this.#watch = watch;
  }

  /** A client whose requests are counted for a trigger. */
  for(credentials: CredentialSource, { scaler, requests }: TriggerRequest): HttpRequester {
    const client = this.find(credentials);
    const watch = this.#watch;
    if (!watch || !requests) return client;
    const onEnded = (status: string, durationMs: number) => {
      requests.increment(status);
      watch.durations.observe(scaler, status, durationMs);
    };
    return observeRequests(client, { clock: watch.clock, onEnded });
  }

  find(credentials: CredentialSource): HttpClient {
    return this.#clients.getOrSet(credentials.name, () => this.#make(credentials));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client[Symbol.asyncDispose]()));
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
    observe(scaler: string, status: string, durationMs: number): void {
      const nowMs = clock.monotonicMs();
      const isNamed = hasRoom(scaler, nowMs);
      if (isNamed) usedAtMs.set(scaler, nowMs);
      histograms.observe([isNamed ? scaler : OTHERS, status], durationMs / 1000);
    },
  };
}

export type RequestDurations = ReturnType<typeof requestDurations>;
