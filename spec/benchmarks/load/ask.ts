import type { Client, Dispatcher } from 'undici';

/** One request for something that is served. */
export interface LoadRequest {
  readonly path: string;
  readonly mediaType: string;
  /** Whether the response may come compressed. */
  readonly gzip: boolean;
  /** Beside those that say how the response is to be written. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Asked to make a connection, or to see that it is there: by that nothing is encoded. */
export const PROBE: LoadRequest = { path: '/livez', mediaType: '*/*', gzip: false };

/** The headers of a response. */
export type ResponseHeaders = Dispatcher.ResponseData['headers'];

/**
 * Sends one request and reads its response to the end without looking at it.
 *
 * @returns how long the body was on the wire, in bytes
 * @throws Error at a response other than 200 or of another format
 */
export async function ask(client: Client, request: LoadRequest): Promise<number> {
  let bytes = 0;
  await receive(client, request, (chunk) => {
    bytes += chunk.length;
  });
  return bytes;
}

/**
 * Sends one request and hands out the body of its response as it comes.
 *
 * @throws Error at a response other than 200 or of another format
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

/** The headers that say how a response is to be written. */
export function encodingHeaders({ mediaType, gzip }: LoadRequest) {
  return { accept: mediaType, 'accept-encoding': gzip ? 'gzip' : 'identity' };
}
