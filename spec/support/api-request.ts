import { once } from 'node:events';
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2';
import { type Agent, request } from 'node:https';
import { buffer } from 'node:stream/consumers';

/** A request to an API server on loopback. */
export interface ApiRequest {
  /** By default 127.0.0.1. */
  readonly host?: string;
  readonly port: number;
  readonly path: string;
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
  /** PEM of a client certificate, followed by its intermediate certificates, and of its key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Reuses connections; by default, each request opens its own. */
  readonly agent?: Agent;
  /** Session that an HTTP/2 request uses. */
  readonly session?: ClientHttp2Session;
}

/** A response, read to its end. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** Sends a request over HTTP/1.1 without verifying the server's certificate. */
export async function requestHttp1(requested: ApiRequest): Promise<ApiResponse> {
  const { host = '127.0.0.1', port, path, method = 'GET', headers = {}, body, agent, cert, key } = requested;
  const outgoing = request({
    host,
    port,
    path,
    method,
    headers,
    agent: agent ?? false,
    rejectUnauthorized: false,
    cert,
    key,
  });
  outgoing.end(body);
  const [response] = await once(outgoing, 'response');
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
}

/** Sends a request over HTTP/2 without verifying the server's certificate. */
export async function requestHttp2({
  host = '127.0.0.1',
  port,
  path,
  method = 'GET',
  headers = {},
  body,
  cert,
  key,
  session: retained,
}: ApiRequest): Promise<ApiResponse> {
  const session = retained ?? connect(`https://${host}:${port}`, { rejectUnauthorized: false, cert, key });
  try {
    const stream = session.request({ ...headers, ':path': path, ':method': method });
    stream.end(body);
    const [{ ':status': status = 0, ...responded }] = await once(stream, 'response');
    return { status, headers: responded, body: await buffer(stream) };
  } finally {
    if (!retained) session.close();
  }
}

/** The body of a response as JSON, typed as the spec expects it. */
export function jsonOf<Shape = Readonly<Record<string, unknown>>>({ body }: ApiResponse): Shape {
  return JSON.parse(body.toString()) as Shape;
}
