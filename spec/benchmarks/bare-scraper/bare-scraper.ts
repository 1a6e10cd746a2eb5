import { once } from 'node:events';
import tls from 'node:tls';
import { Client } from 'undici';

/** Kubelets, path and interval of the scrapes. */
export interface BareScraperOptions {
  /** With port: `127.1.0.1:10250`. */
  readonly addresses: readonly string[];
  readonly path: string;
  /** Bearer token. */
  readonly token: string;
  /** PEM of the CA of the kubelets' certificates. */
  readonly ca: string;
  readonly intervalMs: number;
}

/** Responses received so far. */
export interface BareScrapes {
  readonly responses: number;
  readonly refusals: number;
  readonly bytes: number;
}

/** Concurrent handshakes, as in the server. */
const HANDSHAKES_AT_ONCE = 16;

/** Part of the interval over which requests are spread, in milliseconds, as in the server. */
const SPREAD_MS = 4000;

/** Maximum delay of a timer. */
const KEEP_ALIVE_MS = 2 ** 31 - 1;

/**
 * Scrapes each kubelet once per interval over a persistent TLS connection, and discards the responses: the cost of
 * scraping on this machine, with this Node and this HTTP client, without any processing.
 */
export class BareScraper implements Disposable {
  readonly #options: BareScraperOptions;
  readonly #context: tls.SecureContext;
  readonly #sockets: tls.TLSSocket[] = [];
  readonly #clients: Client[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  #scrapes = { responses: 0, refusals: 0, bytes: 0 };

  constructor(options: BareScraperOptions) {
    this.#options = options;
    this.#context = tls.createSecureContext({ ca: options.ca });
  }

  get scrapes(): BareScrapes {
    return { ...this.#scrapes };
  }

  /** Connects to all kubelets, then scrapes until disposed of. */
  async start(): Promise<void> {
    const { addresses, intervalMs } = this.#options;
    for (let first = 0; first < addresses.length; first += HANDSHAKES_AT_ONCE) {
      const some = addresses.slice(first, first + HANDSHAKES_AT_ONCE);
      await Promise.all(some.map((address) => this.#connect(address)));
    }
    this.#requestAll();
    this.#timers.add(setInterval(() => this.#requestAll(), intervalMs));
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const socket of this.#sockets) socket.destroy();
  }

  async #connect(address: string): Promise<void> {
    const { hostname: host, port } = new URL(`https://${address}`);
    const socket = tls.connect({
      ...{ host, port: Number(port), secureContext: this.#context, ALPNProtocols: ['http/1.1'] },
      checkServerIdentity: () => undefined,
    });
    this.#sockets.push(socket);
    await once(socket, 'secureConnect');
    this.#clients.push(
      new Client(`http://${address}`, {
        connect: (_, callback) =>
          queueMicrotask(() => {
            // With a closed socket, the client would reconnect in a tight loop that blocks the event loop.
            if (socket.destroyed) callback(new Error('The kubelet has closed the connection'), null);
            else callback(null, socket);
          }),
        ...{ allowH2: false, headersTimeout: 0, bodyTimeout: 0 },
        ...{ keepAliveTimeout: KEEP_ALIVE_MS, keepAliveMaxTimeout: KEEP_ALIVE_MS },
      }),
    );
  }

  #requestAll(): void {
    const spreadMs = Math.min(SPREAD_MS, this.#options.intervalMs / 2);
    this.#clients.forEach((client, index) => {
      const timer = setTimeout(
        () => {
          this.#timers.delete(timer);
          this.#request(client);
        },
        (index / this.#clients.length) * spreadMs,
      );
      this.#timers.add(timer);
    });
  }

  #request(client: Client): void {
    const { path, token } = this.#options;
    const scrapes = this.#scrapes;
    client.dispatch(
      { method: 'GET', path, headers: ['authorization', `Bearer ${token}`] },
      {
        onRequestStart: () => {},
        onResponseStart: (_, status) => {
          scrapes[status === 200 ? 'responses' : 'refusals']++;
        },
        onResponseData: (_, chunk) => {
          scrapes.bytes += chunk.length;
        },
        onResponseEnd: () => {},
        onResponseError: () => {
          scrapes.refusals++;
        },
      },
    );
  }
}
