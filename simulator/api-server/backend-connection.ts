import { once } from 'node:events';
import type { IncomingHttpHeaders as Http1Headers } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { Agent, request as requestHttps } from 'node:https';
import type { Readable } from 'node:stream';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import type { UserInfo } from '../access/authenticator.ts';
import type { ApiRequest } from './api-request.ts';

/** A request to an aggregated server; a header with several values is sent as several. */
interface BackendRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Readable;
  readonly signal: AbortSignal;
}

/** The head of a response, and its body as a stream. */
interface BackendResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

/** Address, client certificate and expected server name of a backend. */
type BackendTls = Pick<ConnectionOptions, 'cert' | 'key' | 'ca' | 'servername' | 'rejectUnauthorized'> & {
  readonly host: string;
  readonly port: number;
};

/**
 * Connections to one aggregated server, pooled as Go's transport does: one for everything when the server speaks
 * HTTP/2, else one for each request in flight.
 */
export class BackendConnection {
  readonly #tls: BackendTls;
  readonly #agent: Agent;
  readonly #closed = new AbortController();
  #session: ClientHttp2Session | undefined;
  #connecting: Promise<ClientHttp2Session | undefined> | undefined;
  #speaksHttp2: boolean | undefined;

  constructor(tls: BackendTls) {
    this.#tls = tls;
    this.#agent = new Agent({ keepAlive: true, ...tls });
  }

  /** @throws the network error when the server is unreachable, or the signal's reason */
  async request(request: BackendRequest): Promise<BackendResponse> {
    request.signal.throwIfAborted();
    const session = await this.#http2();
    return session ? requestOverHttp2(session, request, this.#tls) : this.#requestOverHttp1(request);
  }

  /** Closes all connections, those in use too. */
  close(): void {
    this.#closed.abort();
    this.#session?.destroy();
    this.#agent.destroy();
  }

  /** @returns `undefined` when the server speaks HTTP/1.1 alone */
  async #http2(): Promise<ClientHttp2Session | undefined> {
    if (this.#session && !this.#session.closed && !this.#session.destroyed) return this.#session;
    if (this.#speaksHttp2 === false) return undefined;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #connect(): Promise<ClientHttp2Session | undefined> {
    const socket = await dial(this.#tls, this.#closed.signal);
    this.#speaksHttp2 = socket.alpnProtocol === 'h2';
    if (!this.#speaksHttp2) {
      socket.destroy();
      return undefined;
    }
    const session = connectHttp2(`https://${this.#tls.host}:${this.#tls.port}`, {
      createConnection: () => socket,
    });
    session.on('error', () => {}); // requests under way fail by themselves
    session.once('close', () => {
      // The next server at this address may speak another protocol.
      this.#speaksHttp2 = undefined;
    });
    this.#session = session;
    return session;
  }

  async #requestOverHttp1({ method, path, headers, body, signal }: BackendRequest): Promise<BackendResponse> {
    const { host, port } = this.#tls;
    return new Promise((resolve, reject) => {
      const request = requestHttps({
        agent: this.#agent,
        host,
        port,
        method,
        path,
        signal,
        headers: { Host: `${host}:${port}`, ...(headers as Record<string, string | string[]>) },
      });
      request.once('error', (error) => {
        this.#speaksHttp2 = undefined;
        reject(error);
      });
      request.once('response', (response) =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response }),
      );
      if (body) body.pipe(request);
      else request.end();
    });
  }
}

async function dial(tls: BackendTls, signal: AbortSignal): Promise<TLSSocket> {
  const socket = connectTls({ ...tls, ALPNProtocols: ['h2', 'http/1.1'] });
  try {
    await once(socket, 'secureConnect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function requestOverHttp2(
  session: ClientHttp2Session,
  { method, path, headers, body, signal }: BackendRequest,
  { host, port }: BackendTls,
): Promise<BackendResponse> {
  return new Promise((resolve, reject) => {
    const stream = session.request(
      {
        ...(headers as Record<string, string | string[]>),
        ':method': method,
        ':path': path,
        ':authority': `${host}:${port}`,
      },
      { signal, endStream: !body },
    );
    stream.once('error', reject);
    stream.once('response', (reply) =>
      resolve({ status: Number(reply[':status']), headers: reply, body: stream }),
    );
    body?.pipe(stream);
  });
}

// Headers of one connection, or for the API server alone, are not forwarded.
const NOT_FORWARDED =
  /^(:.*|authorization|connection|host|http2-settings|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|x-forwarded-(host|proto|uri)|x-remote-.*)$/;

/** The headers that an aggregated server receives: those of the caller, the user, and the origin of the request. */
export function forwardedHeaders(
  request: ApiRequest,
  backend: { readonly host: string; readonly port: number },
): Record<string, string | readonly string[]> {
  const { caller, raw } = request;
  const { headers, socket } = raw;
  const forwarded: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !NOT_FORWARDED.test(name)) forwarded[name] = value;
  }
  const clients = [headers['x-forwarded-for'], socket.remoteAddress]
    .flat()
    .filter((one) => one !== undefined);
  return {
    ...forwarded,
    'Audit-Id': request.auditId,
    'X-Forwarded-For': clients.join(', '),
    'X-Forwarded-Host': `${backend.host}:${backend.port}`,
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Uri': request.path,
    'X-Remote-User': caller.username,
    ...(caller.groups.length === 0 ? {} : { 'X-Remote-Group': caller.groups }),
    ...(caller.uid === undefined ? {} : { 'X-Remote-Uid': caller.uid }),
    ...extraHeaders(caller),
  };
}

/** The headers of an aggregated server's response that the caller receives, beside those of the API server. */
export function* returnedHeaders(headers: Http1Headers): Generator<[string, string | string[]]> {
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || /^(:.*|connection|keep-alive|transfer-encoding|upgrade)$/.test(name)) continue;
    yield [name, value];
  }
}

function extraHeaders({ extra = {} }: UserInfo): Record<string, readonly string[]> {
  return Object.fromEntries(
    Object.entries(extra).map(([key, values]) => [`X-Remote-Extra-${escapeHeaderKey(key)}`, values]),
  );
}

/** Percent-encodes the characters that a header name cannot contain. */
function escapeHeaderKey(key: string): string {
  return key.replace(/[^A-Za-z0-9!#$&'*+.^_`|~-]/g, (character) => encodeURIComponent(character));
}
