import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttp2Server, type Http2Server } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

// A kubelet closes connections that are idle this long (kubelet/pkg/server).
const IDLE_TIMEOUT_MS = 90_000;

/**
 * The HTTP side of all kubelets of a cluster: one HTTP/1.1 and one HTTP/2 server handle the connections that the
 * kubelets' ports accept, which is cheaper than two servers for each of thousands.
 */
export class KubeletServer {
  readonly #http: Server;
  readonly #http2: Http2Server;
  readonly #handlers = new Map<string, RequestHandler>();

  constructor() {
    const handle = (request: IncomingMessage, response: ServerResponse) =>
      this.#handlers.get(localEndOf(request.socket))?.(request, response);
    this.#http = createHttpServer({ keepAliveTimeout: IDLE_TIMEOUT_MS, keepAlive: true }, handle);
    this.#http2 = createHttp2Server();
    // node's compatibility API gives HTTP/2 requests the methods of HTTP/1.1 ones.
    this.#http2.on('request', handle as never);
    this.#http2.on('sessionError', () => {}); // the peer disconnected or violates the protocol
  }

  /** Routes requests to an address and port to a handler, until that is disposed. */
  handle(address: string, port: number, handler: RequestHandler): Disposable {
    const end = `${address}:${port}`;
    this.#handlers.set(end, handler);
    return { [Symbol.dispose]: () => this.#handlers.delete(end) };
  }

  /** Serves one connection after its TLS handshake. */
  serve(socket: TLSSocket): void {
    const server = socket.alpnProtocol === 'h2' ? this.#http2 : this.#http;
    server.emit('connection', socket);
  }

  close(): void {
    this.#http.close();
    this.#http2.close();
  }
}

/** Serves one request and handles its own errors. */
type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

function localEndOf({ localAddress, localPort }: Socket): string {
  return `${localAddress}:${localPort}`;
}

/** A kubelet's response before it is sent. */
export interface KubeletResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

// Go's HTTP server sends the length of a response that fits its buffer, and chunks longer ones.
const GO_BUFFER_BYTES = 2048;

/**
 * Sends a response as Go's `net/http` does: no Connection header, a Content-Length for short and compressed bodies,
 * chunks for others.
 */
export function sendResponse({ status, headers, body }: KubeletResponse, response: ServerResponse): void {
  response.removeHeader('Connection');
  const isWhole = body.length <= GO_BUFFER_BYTES || 'Content-Length' in headers;
  response.writeHead(status, isWhole ? { ...headers, 'Content-Length': body.length } : { ...headers });
  if (isWhole) {
    response.end(body);
  } else {
    response.write(body);
    response.end();
  }
}

/** A short plain-text response, as from Go's `http.Error`. */
export function textResponse(status: number, text: string): KubeletResponse {
  return { status, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body: Buffer.from(text) };
}
