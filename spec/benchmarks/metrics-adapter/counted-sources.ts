import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PodServers } from '#spec/support/pod-servers.ts';

/** Number of requests to each kind of source. */
export interface SourceCounts {
  readonly queries: number;
  readonly distinctQueries: number;
  readonly pods: number;
}

/** Like servers in Go, which let clients keep connections open; Node's default timeout is 5 s. */
const PERSISTENT = { keepAliveTimeout: 120_000 };

/** A server with Prometheus' query API, and pods at loopback addresses of their own. Counts all requests. */
export class CountedSources implements AsyncDisposable {
  /** Value for `--prometheus-server`. */
  readonly prometheusUrl: string;
  /** Port of all pods. */
  readonly podPort: number;
  readonly #prometheus: http.Server;
  readonly #pods: PodServers;
  readonly #counts: MutableCounts;

  private constructor(prometheus: http.Server, pods: PodServers, counts: MutableCounts) {
    this.#prometheus = prometheus;
    this.#pods = pods;
    this.#counts = counts;
    this.prometheusUrl = `http://127.0.0.1:${(prometheus.address() as AddressInfo).port}`;
    this.podPort = pods.port;
  }

  /** @param podCount number of pods, at consecutive {@link podAddress addresses} */
  static async start(podCount: number): Promise<CountedSources> {
    const counts = new MutableCounts();
    const prometheus = http.createServer(
      PERSISTENT,
      (request, response) => void respond(request, response, counts),
    );
    prometheus.listen(0, '127.0.0.1');
    await once(prometheus, 'listening');
    const listener = (_request: IncomingMessage, response: ServerResponse) => {
      counts.pods += 1;
      if (counts.isHanging) return;
      response.setHeader('content-type', 'application/json');
      response.end('{"queue":{"busy":3,"workers":8},"uptime":12345.5}');
    };
    const addresses = Array.from({ length: podCount }, (_, index) => podAddress(index));
    const pods = await PodServers.start(
      Object.fromEntries(addresses.map((one) => [one, listener])),
      PERSISTENT,
    );
    return new CountedSources(prometheus, pods, counts);
  }

  /** Leaves all further requests without a response. */
  hang(): void {
    this.#counts.isHanging = true;
  }

  /** Counts requests during `run`. */
  async countWhile(run: () => Promise<void>): Promise<SourceCounts> {
    this.#counts.clear();
    await run();
    const { queries, texts, pods } = this.#counts;
    return { queries, distinctQueries: texts.size, pods };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#prometheus.closeAllConnections();
    this.#prometheus.close();
    await this.#pods[Symbol.asyncDispose]();
  }
}

class MutableCounts {
  queries = 0;
  pods = 0;
  readonly texts = new Set<string>();
  isHanging = false;

  clear(): void {
    this.queries = 0;
    this.pods = 0;
    this.texts.clear();
  }
}

/** All addresses of 127.0.0.0/8 belong to this machine. */
export function podAddress(index: number): string {
  return `127.1.${Math.floor(index / 250)}.${1 + (index % 250)}`;
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  counts: MutableCounts,
): Promise<void> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  const text = new URLSearchParams(body).get('query') ?? '';
  counts.queries += 1;
  counts.texts.add(text);
  if (counts.isHanging) return;
  const result = [{ metric: {}, value: [Date.now() / 1000, String(text.length)] }];
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }));
}
