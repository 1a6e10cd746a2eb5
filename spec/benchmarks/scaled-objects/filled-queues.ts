import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import { PushingScaler } from './pushing-scaler.ts';

/** Like servers in Go, which let clients keep connections open; Node's default timeout is 5 s. */
const PERSISTENT = { keepAliveTimeout: 120_000 };

/** Requests to queues during an interval. */
export interface QueueRequests {
  readonly requests: number;
  readonly distinctQueries: number;
  /** Deviation of each repeated query from its interval: positive if late, negative if early. */
  readonly deviationsMs: readonly number[];
}

type IntervalMsOf = (query: string) => number | undefined;

interface Watched {
  requests: number;
  readonly queries: Set<string>;
  readonly deviationsMs: number[];
}

/** Queues behind a server with Prometheus' query API, two brokers with JSON APIs, and a gRPC scaler that pushes. */
export class FilledQueues implements AsyncDisposable {
  readonly prometheusUrl: string;
  readonly brokerUrl: string;
  /** URL of the broker that {@link FilledQueues.hang} affects. */
  readonly otherBrokerUrl: string;
  readonly scalerAddress: string;
  readonly #stack: AsyncDisposableStack;
  readonly #intervalMsOf: IntervalMsOf;
  readonly #lengths = new Map<string, number>();
  readonly #requestedAtMs = new Map<string, number>();
  readonly #scaler: PushingScaler;
  #watched: Watched | undefined;
  #isOtherHanging = false;

  private constructor(
    servers: readonly [http.Server, http.Server],
    scaler: PushingScaler,
    stack: AsyncDisposableStack,
    intervalMsOf: IntervalMsOf,
  ) {
    const [url, otherUrl] = servers.map((one) => `http://127.0.0.1:${(one.address() as AddressInfo).port}`);
    this.prometheusUrl = url ?? '';
    this.brokerUrl = `${url}/queues`;
    this.otherBrokerUrl = `${otherUrl}/queues`;
    this.scalerAddress = `127.0.0.1:${scaler.port}`;
    this.#scaler = scaler;
    this.#stack = stack;
    this.#intervalMsOf = intervalMsOf;
    servers[0].on('request', (request, response) => void this.#respond(request, response));
    servers[1].on('request', (request, response) => {
      if (!this.#isOtherHanging) void this.#respond(request, response);
    });
  }

  /** @param intervalMsOf interval of a query; `undefined` if its times are not measured */
  static async start(intervalMsOf: IntervalMsOf): Promise<FilledQueues> {
    await using stack = new AsyncDisposableStack();
    const listen = async () => {
      const server = http.createServer(PERSISTENT).listen(0, '127.0.0.1');
      await once(server, 'listening');
      stack.defer(() => {
        server.closeAllConnections();
        server.close();
      });
      return server;
    };
    const servers = [await listen(), await listen()] as const;
    const scaler = stack.use(await PushingScaler.start());
    return new FilledQueues(servers, scaler, stack.move(), intervalMsOf);
  }

  /** Sets the length of a queue; the external scaler pushes it if it serves the queue. */
  fill(name: string, length: number): void {
    this.#lengths.set(name, length);
    this.#scaler.fill(name, length);
  }

  /** Leaves further requests to the other broker without a response. */
  hang(): void {
    this.#isOtherHanging = true;
  }

  /** Starts to observe requests. @returns a function that ends this and returns the requests */
  watch(): () => QueueRequests {
    const watched: Watched = { requests: 0, queries: new Set(), deviationsMs: [] };
    this.#watched = watched;
    return () => {
      const { requests, queries, deviationsMs } = watched;
      return {
        requests,
        distinctQueries: queries.size,
        deviationsMs: deviationsMs.toSorted((a, b) => a - b),
      };
    };
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const atMs = performance.now();
    const url = new URL(request.url ?? '', this.prometheusUrl);
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const query = url.searchParams.get('query') ?? new URLSearchParams(body).get('query');
    const name = query === null ? url.pathname.slice('/queues/'.length) : (query.split('"')[1] ?? '');
    this.#note(query ?? url.pathname, atMs);
    const length = this.#lengths.get(name) ?? 0;
    response.setHeader('content-type', 'application/json');
    if (query === null) return void response.end(JSON.stringify({ name, length }));
    const result = [{ metric: {}, value: [Date.now() / 1000, String(length)] }];
    response.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }));
  }

  #note(query: string, atMs: number): void {
    const before = this.#requestedAtMs.get(query);
    this.#requestedAtMs.set(query, atMs);
    const watched = this.#watched;
    if (!watched) return;
    watched.requests++;
    watched.queries.add(query);
    const intervalMs = this.#intervalMsOf(query);
    if (before === undefined || intervalMs === undefined) return;
    watched.deviationsMs.push(Math.abs(atMs - before - intervalMs));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}
