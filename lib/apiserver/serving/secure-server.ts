import type { ServerOptions as Http1Options, IncomingMessage, ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import { createServer } from 'node:https';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContextOptions, Server, TlsOptions } from 'node:tls';
import { codeOf, describeError, systemReasonOf } from '#lib/telemetry/error-text.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import {
  ConnectionGate,
  type ConnectionLimits,
  DEFAULT_CONNECTION_LIMITS,
  guardConnections,
  type ReservationKind,
  ReservedAddresses,
} from './connection-gate.ts';
import { InputMeter } from './input-meter.ts';
import {
  limitBody,
  PipelineLimit,
  RequestPacer,
  refusalReasonOf,
  refuseMalformed,
} from './request-limits.ts';
import type { ServingCertificates } from './serving-certificates.ts';
import type { RefusalReason } from './serving-telemetry.ts';
import { SecureContexts, type TlsSettings } from './tls-context.ts';

interface SecureServerOptions extends ListenAddress {
  readonly certificates: ServingCertificates;
  /** By default TLS 1.2 or later, with Node's own choice of cipher suites. */
  readonly tls?: TlsSettings;
  /** Concurrent requests of one HTTP/2 connection; by default 100, and 0 to serve HTTP/1.1 alone. */
  readonly maxStreamsPerConnection?: number;
  /** By default those of Kubernetes' servers. */
  readonly timeouts?: ConnectionTimeouts;
  /** Of all headers of a request with its URL; by default 1 MiB. */
  readonly maxHeaderBytes?: number;
  /** Whether `onRequest` reads bodies, with a bound of its own. By default they are discarded, up to 256 KiB. */
  readonly readsBodies?: boolean;
  /** What bodies of `onRequest` take on the wire. By default 512 KiB. */
  readonly maxBodyBytes?: number;
  readonly connectionLimits?: ConnectionLimits | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long requests in progress may take to finish when the server is disposed. */
  readonly drainMs: number;
  readonly onRequest: (
    request: Http2ServerRequest | IncomingMessage,
    response: Http2ServerResponse | ServerResponse,
  ) => void;
  readonly onRefused: (reason: RefusalReason) => void;
  /** Called for connections that are closed because they were idle for too long. */
  readonly onIdle: () => void;
}

/** Those of Kubernetes' servers. */
const DEFAULT_TIMEOUTS: ConnectionTimeouts = {
  idleMs: 90_000,
  headersMs: 32_000,
  requestMs: 60_000,
  checkMs: 10_000,
};
/** Concurrent requests of one HTTP/2 connection, as in Kubernetes' servers. */
export const DEFAULT_MAX_STREAMS = 100;
const DEFAULT_TLS: TlsSettings = { minVersion: 'TLSv1.2', cipherSuites: [], curves: [] };

/** Serves HTTP/1.1 and HTTP/2 over TLS on one port, until it is disposed. */
export class SecureServer implements AsyncDisposable {
  readonly address: AddressInfo;
  readonly #server: Server;
  readonly #options: SecureServerOptions;
  readonly #connections: ReadonlySet<Socket>;
  readonly #gate: ConnectionGate;
  readonly #reservedAddresses: ReservedAddresses;
  readonly #pacer: RequestPacer;
  readonly #pipelines: PipelineLimit;
  readonly #meter: InputMeter;
  #isDraining = false;
  /** Responses that have neither been sent nor cut off. */
  #underWay = 0;
  #onNoneUnderWay = () => {};

  private constructor(
    server: Server,
    address: AddressInfo,
    options: SecureServerOptions & {
      readonly gate: ConnectionGate;
      readonly reservedAddresses: ReservedAddresses;
      readonly meter: InputMeter;
    },
  ) {
    this.address = address;
    this.#gate = options.gate;
    this.#reservedAddresses = options.reservedAddresses;
    this.#server = server;
    this.#options = options;
    this.#meter = options.meter;
    this.#pacer = new RequestPacer(options.clock);
    this.#pipelines = new PipelineLimit(() => options.onRefused('pipelined'));
    this.#connections = trackConnections(server);
    server.on('request', (request, response) => this.#handle(request, response));
  }

  /** @throws when it cannot listen on the address or the certificate cannot be used */
  static async start(options: SecureServerOptions): Promise<SecureServer> {
    const { certificates, logger, timeouts = DEFAULT_TIMEOUTS } = options;
    const { maxStreamsPerConnection = DEFAULT_MAX_STREAMS } = options;
    const contexts = new SecureContexts(certificates, options.tls ?? DEFAULT_TLS);
    const server = createHttpServer({
      context: contexts.options,
      serverNames: (name, done) => done(null, contexts.find(name)),
      timeouts,
      maxStreamsPerConnection,
      maxHeaderBytes: options.maxHeaderBytes,
    });
    certificates.onChange(() => {
      contexts.refresh();
      server.setSecureContext(contexts.options); // established connections retain theirs
    });
    const reservedAddresses = new ReservedAddresses(options.clock);
    const gate = new ConnectionGate({
      limits: options.connectionLimits ?? DEFAULT_CONNECTION_LIMITS,
      waitMs: timeouts.headersMs,
      reservedFor: (address) => reservedAddresses.reservedFor(address),
      clock: options.clock,
      onRefused: options.onRefused,
    });
    guardConnections(server, gate);
    const meter = new InputMeter({
      clock: options.clock,
      maxBytes:
        (options.maxHeaderBytes ?? DEFAULT_MAX_HEADER_BYTES) +
        (options.maxBodyBytes ?? MAX_DISCARDED_BODY_BYTES),
      onExceeded: () => options.onRefused('malformed'),
    });
    const secured = new WeakSet<Duplex>();
    server.on('secureConnection', (connection) => {
      secured.add(connection);
      gate.finish(connection);
      if (connection.alpnProtocol === 'h2') return; // its session is metered
      meter.add(connection, { bytesRead: () => connection.bytesRead, cutOff: () => connection.destroy() });
      connection.once('close', () => meter.remove(connection));
    });
    server.on('clientError', (error: Error & { readonly code?: string }, connection: Duplex) => {
      if (!secured.has(connection)) {
        connection.destroy(); // Node leaves one open whose handshake took too long
        return;
      }
      const reason = refusalReasonOf(error.code);
      if (reason) options.onRefused(reason);
      refuseMalformed(error, connection);
    });
    server.on('timeout', (connection: Socket) => {
      options.onIdle();
      connection.destroy();
    });
    server.on('session', (session: ServerHttp2Session) => {
      session.setTimeout(timeouts.idleMs, () => {
        options.onIdle();
        session.close();
      });
      const { socket } = session;
      meter.add(session, {
        bytesRead: () => (session.destroyed ? 0 : socket.bytesRead), // a destroyed session has no socket
        cutOff: () => session.destroy(),
      });
      session.once('close', () => meter.remove(session));
    });
    server.on('sessionError', (error: Error) =>
      logger.info('HTTP/2 session failed', { err: describeError(error) }, 2),
    );
    server.on('tlsClientError', (error, { remoteAddress }) => {
      options.onRefused('tls_handshake');
      logger.info('TLS handshake failed', { remoteAddress, err: describeError(error) }, 2);
    });
    return new SecureServer(server, await listen(server, options), {
      ...options,
      ...{ gate, reservedAddresses, meter },
    });
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** Number of connections in the middle of their TLS handshake. */
  get handshakeCount(): number {
    return this.#gate.handshakeCount;
  }

  /** Reserves connections for an address for an hour. */
  noteAddress(address: string | undefined, kind: ReservationKind): void {
    if (address !== undefined) this.#reservedAddresses.note(address, kind);
  }

  /** Accepts nothing new, closes idle connections, lets requests in progress finish for a while, then cuts them off. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDraining = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#gate.close();
    const { clock, drainMs } = this.#options;
    const timer = new AbortController();
    clock.sleep(drainMs, { signal: timer.signal }).then(
      () => this.#cutOff(),
      () => {}, // everything finished in time
    );
    await closed;
    timer.abort();
    this.#meter[Symbol.dispose]();
    // Handlers must observe the end of their requests before what they use is disposed.
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#onNoneUnderWay = resolve));
  }

  #handle(
    request: Http2ServerRequest | IncomingMessage,
    response: Http2ServerResponse | ServerResponse,
  ): void {
    const { socket } = request;
    const isHttp1 = !('stream' in request) && !('stream' in response);
    const session = 'stream' in request ? request.stream.session : undefined;
    this.#meter.begin(session ?? socket);
    if (isHttp1) {
      const { clock, onRefused, readsBodies = false } = this.#options;
      if (!this.#pipelines.enter(socket)) return;
      if (!readsBodies)
        limitBody(request, response, { clock, onExceeded: () => onRefused('body_too_large') });
      if (this.#isDraining) response.setHeader('Connection', 'close');
    }
    this.#underWay++;
    response.on('close', () => {
      if (--this.#underWay === 0) this.#onNoneUnderWay();
      if (!isHttp1) return;
      this.#pipelines.leave(socket);
      if (this.#isDraining) socket.end();
    });
    this.#pacer.take({
      address: socket.remoteAddress ?? '',
      begin: () => this.#options.onRequest(request, response),
      isOver: () => isOver(response),
    });
  }

  #cutOff(): void {
    for (const connection of this.#connections) connection.destroy();
  }
}

/** Whether the response has been sent or its client has left. */
function isOver(response: Http2ServerResponse | ServerResponse): boolean {
  return 'stream' in response ? response.stream.destroyed : response.destroyed;
}

function trackConnections(server: Server): ReadonlySet<Socket> {
  const connections = new Set<Socket>();
  server.on('connection', (connection: Socket) => {
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
  });
  return connections;
}

/** Timeouts of clients; connections of slower ones are cut off. */
export interface ConnectionTimeouts {
  /** Between two requests. */
  readonly idleMs: number;
  /** For the TLS handshake, and for the headers of each request. */
  readonly headersMs: number;
  /** For a whole request with its body. */
  readonly requestMs: number;
  /** How often the last two are checked. */
  readonly checkMs: number;
}

interface HttpServerOptions {
  readonly context: SecureContextOptions;
  readonly serverNames: NonNullable<TlsOptions['SNICallback']>;
  readonly timeouts: ConnectionTimeouts;
  /** Concurrent requests of one HTTP/2 connection; 0 to serve HTTP/1.1 alone. */
  readonly maxStreamsPerConnection: number;
  /** Of all headers of a request with its URL; by default what Go's servers accept. */
  readonly maxHeaderBytes?: number | undefined;
}

/** Of a body that `limitBody` discards, which has half of it, with frames or sizes of chunks. */
const MAX_DISCARDED_BODY_BYTES = 512 * 1024;

/** As in Go's servers. */
const DEFAULT_MAX_HEADER_BYTES = 1024 * 1024;

/** Headers of a request: a user's groups and extra values have one each. */
export const MAX_HEADERS = 10_000;

/**
 * More than are allowed, so that a request with too many is detected, and refused. Over HTTP/2 the pseudo-headers count
 * as four.
 */
const MAX_HEADERS_READ = MAX_HEADERS + 5;

/**
 * How many streams of one connection a client may reset in a burst, and in each second, before the connection ends. A
 * proxy resets as many as it may have open, when all of its clients leave.
 */
const STREAM_RESETS = { streamResetBurst: 200, streamResetRate: 33 };

/**
 * A server of HTTP/1.1 and HTTP/2 over TLS that requests a client certificate and accepts any: each request is
 * authenticated by itself.
 */
function createHttpServer(options: HttpServerOptions): Server {
  const { maxStreamsPerConnection: maxConcurrentStreams, maxHeaderBytes = DEFAULT_MAX_HEADER_BYTES } =
    options;
  const common = {
    ...options.context,
    SNICallback: options.serverNames,
    requestCert: true,
    rejectUnauthorized: false,
    handshakeTimeout: options.timeouts.headersMs,
    noDelay: true, // the end of a response in several parts would wait 40 ms for the client to acknowledge the others
    ...http1Options(options.timeouts),
    maxHeaderSize: maxHeaderBytes,
  };
  const server =
    maxConcurrentStreams === 0
      ? createServer(common)
      : createSecureServer({
          ...common,
          allowHTTP1: true,
          settings: {
            maxHeaderListSize: maxHeaderBytes,
            maxFrameSize: maxHeaderBytes, // nghttp2 ends a connection whose headers come in more than nine frames
            maxConcurrentStreams,
          },
          ...STREAM_RESETS,
          maxHeaderListPairs: MAX_HEADERS_READ, // Node resets a stream with more than 128
        });
  // Node drops headers after the 2,000th.
  return Object.assign(server, { maxHeadersCount: MAX_HEADERS_READ });
}

/** Node's HTTP/2 server supports these, too, though its types have them for HTTP/1.1 alone. */
function http1Options({ idleMs, headersMs, requestMs, checkMs }: ConnectionTimeouts): Http1Options {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: checkMs,
  };
}

export interface ListenAddress {
  readonly bindAddress: string;
  /** 0 for any free port. */
  readonly port: number;
}

const ANY_ADDRESS = ['0.0.0.0', '::', '::0', ''];
const WITHOUT_IPV6 = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'];

/**
 * Starts to accept connections. An unspecified address means all addresses of both families, as in Go; of IPv4 alone
 * where the machine has no IPv6.
 *
 * @throws when it cannot listen on the address
 */
export async function listen(server: NetServer, { bindAddress, port }: ListenAddress): Promise<AddressInfo> {
  try {
    return await listenAt(server, ANY_ADDRESS.includes(bindAddress) ? '::' : bindAddress, port);
  } catch (error) {
    const isWithoutIpv6 = ANY_ADDRESS.includes(bindAddress) && WITHOUT_IPV6.includes(codeOf(error) ?? '');
    if (isWithoutIpv6) return await listenAt(server, '0.0.0.0', port);
    const message = `Cannot listen on ${bindAddress}:${port}`;
    const reason = systemReasonOf(error);
    if (reason !== undefined) throw new Error(`${message}: ${reason}`); // the error would repeat the address
    throw new Error(message, { cause: error });
  }
}

function listenAt(server: NetServer, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve(server.address() as AddressInfo); // a TCP address, since no pipe was requested
    });
  });
}
