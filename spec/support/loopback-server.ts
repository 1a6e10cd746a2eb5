import { once } from 'node:events';
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';

/** A received request with its whole body. */
export interface ReceivedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The subject of the client certificate, if there is one. */
  readonly peerName: string | undefined;
}

/** A real HTTP or HTTPS server on 127.0.0.1 whose responses the spec sets; it records requests. */
export class LoopbackServer implements AsyncDisposable {
  readonly requests: ReceivedRequest[] = [];
  readonly #server: http.Server;
  readonly #scheme: string;

  private constructor(server: http.Server, scheme: string) {
    this.#server = server;
    this.#scheme = scheme;
  }

  static async start(
    respond: (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>,
    tls?: https.ServerOptions,
  ): Promise<LoopbackServer> {
    const listener: RequestListener = async (incoming, response) => {
      const request = await receive(incoming);
      server.requests.push(request);
      await respond(request, response);
    };
    const server: LoopbackServer = tls
      ? new LoopbackServer(https.createServer(tls, listener), 'https')
      : new LoopbackServer(http.createServer(listener), 'http');
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): URL {
    return new URL(`${this.#scheme}://127.0.0.1:${this.port}`);
  }

  async connectionCount(): Promise<number> {
    return await new Promise((resolve, reject) => {
      this.#server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

async function receive(incoming: IncomingMessage): Promise<ReceivedRequest> {
  let body = '';
  for await (const chunk of incoming.setEncoding('utf8')) body += chunk;
  const { method = '', url = '', headers, socket } = incoming;
  return {
    method,
    url: new URL(url, 'http://127.0.0.1'),
    headers,
    body,
    peerName: socket instanceof TLSSocket ? String(socket.getPeerCertificate().subject?.CN) : undefined,
  };
}
