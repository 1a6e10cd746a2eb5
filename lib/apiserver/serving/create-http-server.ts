import type { ServerOptions as Http1Options } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer } from 'node:https';
import type { SecureContextOptions, Server, TlsOptions } from 'node:tls';

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

/** What a server is made with. */
export interface HttpServerOptions {
  readonly context: SecureContextOptions;
  readonly serverNames: NonNullable<TlsOptions['SNICallback']>;
  readonly timeouts: ConnectionTimeouts;
  /** Requests at once on one HTTP/2 connection; 0 to speak HTTP/1.1 alone. */
  readonly maxStreamsPerConnection: number;
}

/** What Go's servers accept, of all headers of a request with its URL. */
const MAX_HEADER_BYTES = 1024 * 1024;

/** A server of HTTP/1.1 and HTTP/2 over TLS that asks clients for a certificate and takes any: each request is judged. */
export function createHttpServer(options: HttpServerOptions): Server {
  const { maxStreamsPerConnection: maxConcurrentStreams } = options;
  const common = {
    ...options.context,
    SNICallback: options.serverNames,
    requestCert: true,
    rejectUnauthorized: false,
    handshakeTimeout: options.timeouts.headersMs,
    noDelay: true, // the end of an answer in several parts would wait 40 ms for the client to acknowledge the others
    ...http1Options(options.timeouts),
  };
  if (maxConcurrentStreams === 0) return createServer(common);
  const settings = { maxHeaderListSize: MAX_HEADER_BYTES, maxConcurrentStreams };
  return createSecureServer({ ...common, allowHTTP1: true, settings });
}

/** Understood by Node's HTTP/2 server, too, though its types know them for HTTP/1.1 alone. */
function http1Options({ idleMs, headersMs, requestMs, checkMs }: ConnectionTimeouts): Http1Options {
  return {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: checkMs,
  };
}
