import { Client } from 'undici';
import type { ClientCertificate } from '../credentials.ts';
import { encodingHeaders, type LoadRequest, receive } from '../load/send.ts';

/** A server's response as transferred. */
export interface RecordedResponse {
  /** Headers that describe the body; headers of the connection or the time are omitted. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Responses by `responseKey`. */
export type RecordedResponses = ReadonlyMap<string, RecordedResponse>;

/** Server, credentials and requests for a recording. */
export interface Recording {
  readonly origin: string;
  readonly tls: ClientCertificate;
  readonly requests: readonly LoadRequest[];
}

const RECORDED_HEADERS = ['content-type', 'content-encoding', 'vary', 'cache-control', 'audit-id'];

/**
 * Sends each request once and records the response.
 *
 * @throws Error for a status other than 200 or another format
 */
export async function recordResponses({ origin, tls, requests }: Recording): Promise<RecordedResponses> {
  const client = new Client(origin, { connect: { ...tls, rejectUnauthorized: false }, allowH2: true });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => client.close());
  const responses = new Map<string, RecordedResponse>();
  for (const request of requests) {
    const chunks: Buffer[] = [];
    const responseHeaders = await receive(client, request, (chunk) => chunks.push(chunk));
    const headers = RECORDED_HEADERS.flatMap((name) => {
      const value = responseHeaders[name];
      return value === undefined ? [] : [[name, String(value)] as const];
    });
    const requested = { url: request.path, headers: encodingHeaders(request) };
    responses.set(responseKey(requested), {
      headers: Object.fromEntries(headers),
      body: Buffer.concat(chunks),
    });
  }
  return responses;
}

/** Key that distinguishes the responses to requests, from a request in Node's form. */
export function responseKey({ url, headers }: RequestedResponse): string {
  return `${headers.accept} ${headers['accept-encoding']} ${url}`;
}

interface RequestedResponse {
  readonly url?: string | undefined;
  readonly headers: {
    readonly accept?: string | undefined;
    readonly 'accept-encoding'?: string | string[] | undefined;
  };
}
