import { Counter, Gauge, type Registry } from 'prom-client';

/** How a request is counted while it is in progress. */
export type RequestKind = 'readOnly' | 'mutating';

/** Why a request, or a connection before its first one, was not served. */
export type RefusalReason =
  | 'in_flight'
  | 'watchers'
  | 'headers_too_large'
  | 'body_too_large'
  | 'too_slow'
  | 'pipelined'
  | 'not_read'
  | 'held_responses'
  | 'malformed'
  | 'tls_handshake'
  | 'connections'
  | 'handshakes';

/** Series about the limits of the server. */
export class ServingTelemetry {
  readonly #inFlight: Record<RequestKind, number> = { readOnly: 0, mutating: 0 };
  readonly #refusals: Counter<'reason'>;
  readonly #idleConnections: Counter;

  /** @param counts current numbers */
  constructor(
    registry: Registry,
    counts: {
      readonly connections: () => number;
      readonly handshakes: () => number;
      readonly bufferedBytes: () => number;
      readonly waitingResponses: () => number;
    },
  ) {
    const registers = [registry];
    const gauge = (name: string, help: string, read: () => number) =>
      new Gauge({
        ...{ name, help, registers },
        collect() {
          this.set(read());
        },
      });
    const inFlight = this.#inFlight;
    new Gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Number of requests in progress that count against a limit, by kind.',
      labelNames: ['request_kind'],
      registers,
      collect() {
        for (const [request_kind, count] of Object.entries(inFlight)) this.set({ request_kind }, count);
      },
    });
    this.#refusals = new Counter({
      name: 'apiserver_refused_requests_total',
      help: 'Number of requests that were refused because they exceeded a limit or were malformed, by reason.',
      labelNames: ['reason'],
      registers,
    });
    this.#idleConnections = new Counter({
      name: 'apiserver_idle_connections_closed_total',
      help: 'Number of connections that were closed because they were idle.',
      registers,
    });
    gauge('apiserver_open_connections', 'Number of open client connections.', counts.connections);
    gauge(
      'apiserver_tls_handshakes',
      'Number of connections whose TLS handshake is in progress.',
      counts.handshakes,
    );
    gauge(
      'apiserver_held_response_bytes',
      'Number of bytes of responses that clients have not read yet.',
      counts.bufferedBytes,
    );
    gauge(
      'apiserver_waiting_responses',
      'Number of responses waiting for other responses to release memory.',
      counts.waitingResponses,
    );
  }

  setInFlight(kind: RequestKind, count: number): void {
    this.#inFlight[kind] = count;
  }

  recordRefusal(reason: RefusalReason): void {
    this.#refusals.inc({ reason });
  }

  recordIdleConnection(): void {
    this.#idleConnections.inc();
  }
}
