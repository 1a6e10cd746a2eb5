import type { IncomingMessage } from 'node:http';
import type { SimulatedCluster } from '#simulator/simulated-cluster.ts';
import { type HttpsRequest, type HttpsResponse, openHttps, requestHttps } from './https-request.ts';

/** Untyped: each spec asserts the content of a response. */
type Json = ReturnType<typeof JSON.parse>;

/** Sends requests to the API server of a simulated cluster, by default as its administrator. */
export class ClusterClient {
  readonly #cluster: SimulatedCluster;
  readonly #credentials: HttpsRequest;

  constructor(cluster: SimulatedCluster, credentials?: HttpsRequest) {
    const { certificatePem, privateKeyPem } = cluster.pki.admin;
    this.#cluster = cluster;
    this.#credentials = credentials ?? { cert: certificatePem, key: privateKeyPem };
  }

  /** A client whose only credentials are a certificate of the client CA. */
  static asUser(cluster: SimulatedCluster, commonName: string, organizations: string[] = []): ClusterClient {
    const issued = cluster.pki.clientCa.issue({
      subject: { commonName, organizations },
      usages: ['clientAuth'],
    });
    return new ClusterClient(cluster, { cert: issued.certificatePem, key: issued.privateKeyPem });
  }

  request(path: string, options: HttpsRequest = {}): Promise<HttpsResponse> {
    return requestHttps(`${this.#cluster.server}${path}`, this.#complete(options));
  }

  /** The response's JSON, for any status. */
  async json(path: string, options: HttpsRequest = {}): Promise<Json> {
    return JSON.parse((await this.request(path, options)).body);
  }

  open(path: string, options: HttpsRequest = {}): Promise<IncomingMessage> {
    return openHttps(`${this.#cluster.server}${path}`, this.#complete(options));
  }

  #complete(options: HttpsRequest): HttpsRequest {
    return { ca: this.#cluster.pki.serverCa.certificatePem, ...this.#credentials, ...options };
  }
}

/** Reads the lines of a watch as parsed events. */
export class WatchReader {
  readonly #response: IncomingMessage;
  readonly #events: AsyncGenerator<WatchLine>;

  constructor(response: IncomingMessage) {
    this.#response = response;
    this.#events = linesOf(response);
  }

  /** The next `count` events. */
  async take(count: number): Promise<WatchLine[]> {
    const events: WatchLine[] = [];
    while (events.length < count) {
      const { value, done } = await this.#events.next();
      if (done) throw new Error(`The watch ended after ${events.length} of ${count} events`);
      events.push(value);
    }
    return events;
  }

  /** All events until the server ends the watch. */
  async rest(): Promise<WatchLine[]> {
    const events: WatchLine[] = [];
    for await (const event of this.#events) events.push(event);
    return events;
  }

  [Symbol.dispose](): void {
    this.#response.destroy();
  }
}

export interface WatchLine {
  readonly type: string;
  readonly object: Json;
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<WatchLine> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk;
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line);
  }
}
