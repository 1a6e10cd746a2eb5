import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
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

/** The HTTP/2 connection to one aggregated server, shared by all requests, as Go's transport does. */
export class BackendConnection {
  readonly #tls: BackendTls;
  readonly #closed = new AbortController();
  #session: ClientHttp2Session | undefined;
  #connecting: Promise<ClientHttp2Session> | undefined;

  constructor(tls: BackendTls) {
    this.#tls = tls;
  }

  /** @throws the network error when the server is unreachable or speaks no HTTP/2, or the signal's reason */
  async request(request: BackendRequest): Promise<BackendResponse> {
    request.signal.throwIfAborted();
    return sendRequest(await this.#connected(), request, this.#tls);
  }

  /** Closes it, even if it is in use. */
  close(): void {
    this.#closed.abort();
    this.#session?.destroy();
  }

  async #connected(): Promise<ClientHttp2Session> {
    if (this.#session && !this.#session.closed && !this.#session.destroyed) return this.#session;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #connect(): Promise<ClientHttp2Session> {
    const socket = await dial(this.#tls, this.#closed.signal);
    const session = connectHttp2(`https://${this.#tls.host}:${this.#tls.port}`, {
      createConnection: () => socket,
    });
    session.on('error', () => {}); // requests under way fail by themselves
    this.#session = session;
    return session;
  }
}

async function dial(tls: BackendTls, signal: AbortSignal): Promise<TLSSocket> {
  const socket = connectTls({ ...tls, ALPNProtocols: ['h2'] });
  try {
    await once(socket, 'secureConnect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function sendRequest(
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
export function* returnedHeaders(headers: IncomingHttpHeaders): Generator<[string, string | string[]]> {
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
