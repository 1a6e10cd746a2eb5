import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { ANONYMOUS, type Authenticator, type UserInfo } from '../access/authenticator.ts';
import type { ClusterPki } from '../access/certificate-authority.ts';
import { credentialsOf } from '../access/http-request.ts';
import type { Rbac } from '../access/rbac.ts';
import { type ObjectStore, StoreError } from '../objects/object-store.ts';
import type { ResourceRegistry } from '../resources/resource-type.ts';
import type { Aggregator } from './aggregator.ts';
import { type ApiRequest, readRequest } from './api-request.ts';
import { authorize } from './authorize.ts';
import type { ApiFault } from './faults.ts';
import { sendJson } from './representation.ts';
import { apiErrorOf, route } from './routes.ts';
import { ApiError } from './status.ts';

const IDLE_TIMEOUT_MS = 90_000;

interface ApiServerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pki: ClusterPki;
  readonly store: ObjectStore;
  readonly registry: ResourceRegistry;
  /** The minor version of Kubernetes that it simulates. */
  readonly minor: number;
  readonly authenticator: Authenticator;
  readonly rbac: Rbac;
  readonly aggregator: Aggregator;
}

/** The API server: HTTPS with HTTP/2 and HTTP/1.1 on one port, authentication, authorization and all routes. */
export class ApiServer {
  readonly #options: ApiServerOptions;
  readonly #sockets = new Set<Socket>();
  #server: Http2SecureServer | undefined;
  #closing = new AbortController();
  #endpoint = { address: '', port: 0 };
  #faults: readonly ApiFault[] = [];

  constructor(options: ApiServerOptions) {
    this.#options = options;
  }

  get endpoint(): { readonly address: string; readonly port: number } {
    return this.#endpoint;
  }

  /**
   * Starts to listen; after {@link stop}, again on the same port.
   *
   * @param port 0 for any free port
   * @throws when the port is in use
   */
  async start(address = this.#endpoint.address, port = this.#endpoint.port): Promise<void> {
    const { pki } = this.#options;
    this.#closing = new AbortController();
    const server = createSecureServer({
      allowHTTP1: true,
      cert: pki.apiServer.certificatePem,
      key: pki.apiServer.privateKeyPem,
      ca: pki.clientCa.certificatePem,
      requestCert: true,
      rejectUnauthorized: false, // an invalid certificate is refused with 401, not with a TLS alert
      noDelay: true, // as Go has it: else an event would wait 40 ms for the watcher to acknowledge the one before
    });
    // node's compatibility API gives HTTP/2 requests the methods of HTTP/1.1 ones.
    server.on('request', ((request: IncomingMessage, response: ServerResponse) => {
      void this.#serve(request, response);
    }) as never);
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on('tlsClientError', () => {});
    server.on('sessionError', () => {});
    Object.assign(server, { keepAliveTimeout: IDLE_TIMEOUT_MS });
    await new Promise<void>((resolve, reject) => {
      server.once('error', (cause) =>
        reject(new Error(`Cannot serve the API at ${address}:${port}`, { cause })),
      );
      server.listen({ host: address, port }, resolve);
    });
    const bound = server.address();
    this.#endpoint = { address, port: bound && typeof bound === 'object' ? bound.port : port };
    this.#server = server;
  }

  /** Replaces its faults; requests in flight continue with those with which they began. */
  setFaults(...faults: readonly ApiFault[]): void {
    this.#faults = faults;
  }

  /** Closes every connection; new ones are accepted. */
  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Stops as if the machine had failed: every connection breaks. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    this.#closing.abort();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    this.dropConnections();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #serve(raw: IncomingMessage, response: ServerResponse): Promise<void> {
    const disconnected = new AbortController();
    response.on('close', () => disconnected.abort());
    response.on('error', () => disconnected.abort());
    const signal = AbortSignal.any([disconnected.signal, this.#closing.signal]);
    const caller = this.#callerOf(raw);
    const request = readRequest(raw, response, { caller: caller ?? ANONYMOUS, signal });
    response.setHeader('Audit-Id', request.auditId);
    response.setHeader('Cache-Control', 'no-cache, private');
    try {
      if (!caller) throw new ApiError(401, 'Unauthorized', 'Unauthorized');
      authorize(request, this.#options.rbac);
      await this.#respond(request, this.#faults);
    } catch (error) {
      if (!signal.aborted) this.#fail(request, error);
      else response.destroy();
    }
  }

  async #respond(request: ApiRequest, [fault, ...others]: readonly ApiFault[]): Promise<void> {
    if (!fault) return route(request, this.#options);
    const { clock } = this.#options;
    await fault.serve(request, { clock, next: () => this.#respond(request, others) });
  }

  /** @returns `undefined` for invalid credentials; the anonymous user for none */
  #callerOf(request: IncomingMessage): UserInfo | undefined {
    const credentials = credentialsOf(request.socket as TLSSocket, request.headers);
    const caller = this.#options.authenticator.authenticate(credentials);
    if (caller) return caller;
    return credentials.bearerToken || credentials.hasInvalidCertificate ? undefined : ANONYMOUS;
  }

  #fail(request: ApiRequest, error: unknown): void {
    const { response } = request;
    const apiError =
      error instanceof ApiError
        ? error
        : error instanceof StoreError
          ? apiErrorOf(error, request)
          : new ApiError(500, 'InternalError', 'Internal error occurred', {});
    if (apiError.code === 500) {
      this.#options.logger.error('Cannot respond', error, { method: request.method, path: request.path });
    }
    if (response.headersSent) return void response.destroy();
    if (apiError.code === 403) response.setHeader('X-Content-Type-Options', 'nosniff');
    sendJson(request, apiError.code, apiError.toStatus());
  }
}
