import type { ServerOptions as Http1Options } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { RefusalReason } from '#lib/apiserver/serving-telemetry.ts';
import { describeError, type Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type ListenAddress, listen } from './listen.ts';
import { refusalReasonOf, refuseMalformed } from './refuse-malformed.ts';
import { SecureContexts } from './secure-contexts.ts';
import type { ServingCertificates } from './serving-certificates.ts';
import type { TlsSettings } from './tls-settings.ts';

/** What a server is started with. */
export interface SecureServerOptions extends ListenAddress {
  readonly certificates: ServingCertificates;
  /** By default TLS 1.2 or later, by Node's own choice of cipher suites. */
  readonly tls?: TlsSettings;
  /** Requests at once on one HTTP/2 connection; by default 100. */
  readonly maxStreamsPerConnection?: number;
  /** By default those of Kubernetes' servers. */
  readonly timeouts?: ConnectionTimeouts;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long requests that are under way may take to finish when the server is disposed. */
  readonly drainMs: number;
  readonly onRequest: (request: Http2ServerRequest, response: Http2ServerResponse) => void;
  readonly onRefused: (reason: RefusalReason) => void;
}

/** How long clients may take their time; who takes longer is cut off. */
export interface ConnectionTimeouts {
  /** Between two requests. */
  readonly idleMs: number;
  /** For the TLS handshake, and for the headers of each request. */
  readonly headersMs: number;
  /** For a whole request with its body. */
  readonly requestMs: number;
  /** How often the last two are looked at. */
  readonly checkMs: number;
}

/** Those of Kubernetes' servers. */
const DEFAULT_TIMEOUTS: ConnectionTimeouts = {
  idleMs: 90_000,
  headersMs: 32_000,
  requestMs: 60_000,
  checkMs: 10_000,
};
/** What Go's servers accept, of all headers of a request with its URL. */
const MAX_HEADER_BYTES = 1024 * 1024;

/** Requests at once on one HTTP/2 connection, as in Kubernetes' servers. */
export const DEFAULT_MAX_STREAMS = 100;
const DEFAULT_TLS: TlsSettings = { minVersion: 'TLSv1.2', cipherSuites: [] };

/** Serves HTTP/1.1 and HTTP/2 over TLS on one port, until it is disposed. */
export class SecureServer implements AsyncDisposable {
  readonly address: AddressInfo;
  readonly #server: Http2SecureServer;
  readonly #options: SecureServerOptions;
  readonly #connections: ReadonlySet<Socket>;
  #isDraining = false;

  private constructor(server: Http2SecureServer, address: AddressInfo, options: SecureServerOptions) {
    this.address = address;
    this.#server = server;
    this.#options = options;
    this.#connections = trackConnections(server);
    server.on('request', (request, response) => this.#handle(request, response));
  }

  /** @throws when the address cannot be listened at or the certificate cannot be used */
  static async start(options: SecureServerOptions): Promise<SecureServer> {
    const { certificates, logger, timeouts = DEFAULT_TIMEOUTS } = options;
    const { maxStreamsPerConnection = DEFAULT_MAX_STREAMS } = options;
    const contexts = new SecureContexts(certificates, options.tls ?? DEFAULT_TLS);
    const server = createSecureServer({
      ...contexts.options,
      SNICallback: (name, done) => done(null, contexts.find(name)),
      requestCert: true,
      rejectUnauthorized: false, // who shows which certificate is judged request by request
      handshakeTimeout: timeouts.headersMs,
      allowHTTP1: true,
      ...http1Options(timeouts),
      settings: { maxHeaderListSize: MAX_HEADER_BYTES, maxConcurrentStreams: maxStreamsPerConnection },
    });
    certificates.onChange(() => {
      contexts.refresh();
      server.setSecureContext(contexts.options); // connections that are there keep theirs
    });
    const secured = new WeakSet<Duplex>();
    server.on('secureConnection', (connection) => secured.add(connection));
    server.on('clientError', (error, connection) => {
      if (!secured.has(connection)) {
        connection.destroy(); // Node leaves one open whose handshake took too long
        return;
      }
      options.onRefused(refusalReasonOf(error.code));
      refuseMalformed(error, connection);
    });
    server.on('session', (session) => session.setTimeout(timeouts.idleMs, () => session.close()));
    server.on('sessionError', (error) =>
      logger.info('HTTP/2 session failed', { err: describeError(error) }, 2),
    );
    server.on('tlsClientError', (error, { remoteAddress }) => {
      options.onRefused('tls_handshake');
      logger.info('TLS handshake failed', { remoteAddress, err: describeError(error) }, 2);
    });
    return new SecureServer(server, await listen(server, options), options);
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** Accepts nothing new, closes what lies idle, lets what is under way finish for a while, then cuts it off. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDraining = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const { clock, drainMs } = this.#options;
    const timer = new AbortController();
    clock.sleep(drainMs, { signal: timer.signal }).then(
      () => this.#cutOff(),
      () => {}, // everything finished in time
    );
    await closed;
    timer.abort();
  }

  #handle(request: Http2ServerRequest, response: Http2ServerResponse): void {
    if (request.httpVersionMajor === 1) {
      if (this.#isDraining) response.setHeader('Connection', 'close');
      response.on('close', () => {
        if (this.#isDraining) request.socket.end();
      });
    }
    this.#options.onRequest(request, response);
  }

  #cutOff(): void {
    for (const connection of this.#connections) connection.destroy();
  }
}

/** Understood by Node though its types know them for plain HTTP alone. */
function http1Options({ idleMs, headersMs, requestMs, checkMs }: ConnectionTimeouts): Http1Options {
  return {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: checkMs,
  };
}

function trackConnections(server: Http2SecureServer): ReadonlySet<Socket> {
  const connections = new Set<Socket>();
  server.on('connection', (connection: Socket) => {
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
  });
  return connections;
}
