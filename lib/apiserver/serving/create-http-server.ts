import type { ServerOptions as Http1Options } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer } from 'node:https';
import type { SecureContextOptions, Server, TlsOptions } from 'node:tls';
import { MAX_HEADERS } from '#lib/apiserver/middleware/read-request.ts';

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
  /** Of all headers of a request with its URL; by default what Go's servers accept. */
  readonly maxHeaderBytes?: number | undefined;
}

/** What Go's servers accept. */
const DEFAULT_MAX_HEADER_BYTES = 1024 * 1024;

/**
 * One more than are allowed, so that a request which has too many is seen to, and refused. Over HTTP/2 the beginning of the request
 * counts as four.
 */
const MAX_HEADERS_READ = MAX_HEADERS + 5;

/**
 * How many streams of one connection a client may reset at once, and in each second, before the connection ends. Who asks on
 * behalf of others resets as many as it may have open, when all of these leave.
 */
const STREAM_RESETS = { streamResetBurst: 200, streamResetRate: 33 };

/** A server of HTTP/1.1 and HTTP/2 over TLS that asks clients for a certificate and takes any: each request is judged. */
export function createHttpServer(options: HttpServerOptions): Server {
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
  // Node leaves out what comes behind the 2,000th.
  return Object.assign(server, { maxHeadersCount: MAX_HEADERS_READ });
}

/** Understood by Node's HTTP/2 server, too, though its types know them for HTTP/1.1 alone. */
function http1Options({ idleMs, headersMs, requestMs, checkMs }: ConnectionTimeouts): Http1Options {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: checkMs,
  };
}
