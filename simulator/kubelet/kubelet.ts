import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls';
import type { Clock } from '#lib/time/clock.ts';
import type { KeyedCertificate } from '../access/certificate-authority.ts';
import { credentialsOf, splitUrl } from '../access/http-request.ts';
import type { Fault } from './faults.ts';
import { checkAccess, type KubeletGate } from './kubelet-access.ts';
import { type KubeletResponse, type KubeletServer, sendResponse } from './kubelet-http.ts';
import { type KubeletSources, RequestCounts, routedResponse } from './kubelet-routes.ts';
import type { NodeMachine } from './node-machine.ts';

interface KubeletOptions {
  readonly machine: NodeMachine;
  readonly clock: Clock;
  readonly gate: KubeletGate;
  readonly server: KubeletServer;
  /** PEM of the CA whose client certificates it accepts. */
  readonly clientCaPem: string;
  /** Called by {@link Kubelet.prepareTls} or for the first connection, and after {@link Kubelet.renewCertificate}. */
  certificate(): KeyedCertificate;
}

/**
 * One kubelet: its own address, its own certificate, and its current faults. HTTP is shared, so that thousands fit into
 * a process.
 */
export class Kubelet {
  readonly nodeName: string;
  readonly #options: KubeletOptions;
  readonly #connections = new Map<string, Connection>();
  readonly #requests = new RequestCounts();
  readonly #sources: KubeletSources;
  #listener: Server | undefined;
  #takenPort: AsyncDisposable | undefined;
  #tls: TlsServer | undefined;
  #route: Disposable | undefined;
  #faults: readonly Fault[] = [];
  #endpoint = { address: '', port: 0 };

  constructor(nodeName: string, options: KubeletOptions) {
    this.nodeName = nodeName;
    this.#options = options;
    this.#sources = { machine: options.machine, requests: this.#requests };
  }

  /** The address at which it listens, or would listen if it were not down. */
  get endpoint(): { readonly address: string; readonly port: number } {
    return this.#endpoint;
  }

  /** The number of open connections. */
  get connectionCount(): number {
    return this.#connections.size;
  }

  /**
   * @param port 0 for any free port
   * @throws when the port is in use
   */
  async listen(address: string, port: number): Promise<void> {
    this.#endpoint = { address, port };
    await this.#open();
  }

  /** Prepares TLS before the first connection: thousands may arrive within a second. */
  prepareTls(): void {
    this.#tlsServer();
  }

  /** Replaces its faults; faults of ports and connections close the open connections. */
  async setFaults(faults: readonly Fault[]): Promise<void> {
    this.#faults = faults;
    const portTaker = faults.find((fault) => fault.takePort);
    if (portTaker || faults.some((fault) => fault.takeConnection)) this.#dropConnections();
    await this.#takenPort?.[Symbol.asyncDispose]();
    this.#takenPort = undefined;
    if (portTaker) {
      await this.#close();
      this.#takenPort = await portTaker.takePort?.(this.#endpoint);
    } else if (!this.#listener) {
      await this.#open();
    }
  }

  /**
   * Moves to another address or port, as a replaced machine does: every connection breaks.
   *
   * @throws when the port is in use
   */
  async move(address: string, port: number): Promise<void> {
    this.#dropConnections();
    await this.#close();
    await this.listen(address, port);
  }

  /** Requests the certificate for new connections again. */
  renewCertificate(): void {
    this.#tls = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#route?.[Symbol.dispose]();
    this.#dropConnections();
    await this.#takenPort?.[Symbol.asyncDispose]();
    await this.#close();
  }

  async #open(): Promise<void> {
    const listener = createTcpServer({ noDelay: true }, (socket) => this.#accept(socket));
    const { address, port } = this.#endpoint;
    await new Promise<void>((resolve, reject) => {
      listener.once('error', reject);
      listener.listen({ host: address, port, backlog: 511 }, resolve);
    });
    const bound = listener.address();
    if (bound && typeof bound === 'object') this.#endpoint = { address, port: bound.port };
    this.#listener = listener;
    this.#route?.[Symbol.dispose]();
    this.#route = this.#options.server.handle(address, this.#endpoint.port, (request, response) =>
      this.#serve(request, response),
    );
  }

  async #close(): Promise<void> {
    const listener = this.#listener;
    this.#listener = undefined;
    if (listener) await new Promise<void>((resolve) => listener.close(() => resolve()));
  }

  #dropConnections(): void {
    for (const { socket, tls } of this.#connections.values()) {
      tls?.destroy();
      socket.destroy();
    }
    this.#connections.clear();
  }

  #accept(socket: Socket): void {
    const end = remoteEndOf(socket);
    this.#connections.set(end, { socket });
    socket.once('close', () => this.#connections.delete(end));
    socket.on('error', () => {}); // the caller may disconnect at any time
    const taker = this.#faults.find((fault) => fault.takeConnection);
    if (taker) taker.takeConnection?.(socket);
    else this.#tlsServer().emit('connection', socket);
  }

  #tlsServer(): TlsServer {
    this.#tls ??= this.#createTlsServer();
    return this.#tls;
  }

  #createTlsServer(): TlsServer {
    const { certificatePem, privateKeyPem } = this.#options.certificate();
    const server = createTlsServer({
      cert: certificatePem,
      key: privateKeyPem,
      ca: this.#options.clientCaPem,
      requestCert: true,
      rejectUnauthorized: false, // an invalid certificate is refused with 401, not with a TLS alert
      ALPNProtocols: ['h2', 'http/1.1'],
      minVersion: 'TLSv1.2',
    });
    server.on('tlsClientError', () => {});
    server.on('secureConnection', (tls) => {
      const connection = this.#connections.get(remoteEndOf(tls));
      if (connection) connection.tls = tls;
      this.#options.server.serve(tls);
    });
    return server;
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    const disconnected = new AbortController();
    response.on('close', () => {
      if (!response.writableFinished) disconnected.abort(); // without a reason: its stack costs more than a short response
    });
    const connection = this.#connections.get(remoteEndOf(request.socket));
    this.#respond(request)
      .then((reply) =>
        this.#deliver(reply, response, {
          faults: this.#faults.filter((fault) => fault.deliver),
          signal: disconnected.signal,
          resetConnection: () => connection?.socket.resetAndDestroy(),
        }),
      )
      .catch(() => response.destroy()); // the caller disconnected during a fault, or the gate failed
  }

  async #respond(request: IncomingMessage): Promise<KubeletResponse> {
    const { path, query } = splitUrl(request.url ?? '/');
    const { method = 'GET' } = request;
    this.#requests.count(method, path);
    const refusal = await checkAccess(
      this.#options.gate,
      credentialsOf(request.socket as TLSSocket, request.headers),
      {
        method,
        path,
        nodeName: this.nodeName,
      },
    );
    const acceptsGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
    const healthy = refusal ?? routedResponse({ path, query, acceptsGzip }, this.#sources);
    return this.#faults.reduce((reply, fault) => fault.change?.(reply) ?? reply, healthy);
  }

  async #deliver(
    reply: KubeletResponse,
    response: ServerResponse,
    context: { faults: readonly Fault[]; signal: AbortSignal; resetConnection: () => void },
  ): Promise<void> {
    const [fault, ...faults] = context.faults;
    if (!fault?.deliver) return sendResponse(reply, response);
    await fault.deliver(reply, response, {
      clock: this.#options.clock,
      signal: context.signal,
      resetConnection: context.resetConnection,
      next: (changed) => this.#deliver(changed, response, { ...context, faults }),
    });
  }
}

interface Connection {
  readonly socket: Socket;
  tls?: TLSSocket;
}

function remoteEndOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}:${remotePort}`;
}
