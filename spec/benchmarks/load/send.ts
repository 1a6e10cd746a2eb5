import type { Client, Dispatcher } from 'undici';

/** A GET request. */
export interface LoadRequest {
  readonly path: string;
  readonly mediaType: string;
  /** Whether to accept a compressed response. */
  readonly gzip: boolean;
  /** Added to the headers of content negotiation. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Opens or checks a connection without having the server encode metrics. */
export const PROBE: LoadRequest = { path: '/livez', mediaType: '*/*', gzip: false };

export type ResponseHeaders = Dispatcher.ResponseData['headers'];

/**
 * Sends a request and discards the response.
 *
 * @returns size of the body as transferred, in bytes
 * @throws Error for a status other than 200 or another format
 */
export async function send(client: Client, request: LoadRequest): Promise<number> {
  let bytes = 0;
  await receive(client, request, (chunk) => {
    bytes += chunk.length;
  });
  return bytes;
}

/**
 * Sends a request and passes on the chunks of the response's body.
 *
 * @throws Error for a status other than 200 or another format
 */
export async function receive(
  client: Client,
  request: LoadRequest,
  onChunk: (chunk: Buffer) => void,
): Promise<ResponseHeaders> {
  const { path, mediaType } = request;
  const headers = { ...encodingHeaders(request), ...request.headers };
  const {
    statusCode,
    headers: responseHeaders,
    body,
  } = await client.request({ method: 'GET', path, headers });
  for await (const chunk of body) onChunk(chunk as Buffer);
  const type = String(responseHeaders['content-type']);
  if (statusCode !== 200 || !(mediaType === '*/*' || type.startsWith(mediaType))) {
    throw new Error(`Cannot measure ${path} as ${mediaType}: the response was ${statusCode}, ${type}`);
  }
  return responseHeaders;
}

/** Headers of content negotiation. */
export function encodingHeaders({ mediaType, gzip }: LoadRequest) {
  return { accept: mediaType, 'accept-encoding': gzip ? 'gzip' : 'identity' };
}
