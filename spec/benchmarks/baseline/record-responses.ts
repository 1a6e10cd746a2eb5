import { Client } from 'undici';
import type { ClientCertificate } from '../credentials.ts';
import { encodingHeaders, type LoadRequest, receive } from '../load/ask.ts';

/** What a server has responded, as it went over the wire. */
export interface RecordedResponse {
  /** Those that tell of the body; what belongs to a connection or to a moment is left out. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Responses by `responseKey`. */
export type RecordedResponses = ReadonlyMap<string, RecordedResponse>;

/** Whose responses to which requests, and as whom to ask them. */
export interface Recording {
  readonly origin: string;
  readonly tls: ClientCertificate;
  readonly requests: readonly LoadRequest[];
}

const KEPT_HEADERS = ['content-type', 'content-encoding', 'vary', 'cache-control', 'audit-id'];

/**
 * Asks each request once and keeps the response.
 *
 * @throws Error at a response other than 200 or of another format
 */
export async function recordResponses({ origin, tls, requests }: Recording): Promise<RecordedResponses> {
  const client = new Client(origin, { connect: { ...tls, rejectUnauthorized: false }, allowH2: true });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => client.close());
  const responses = new Map<string, RecordedResponse>();
  for (const request of requests) {
    const chunks: Buffer[] = [];
    const responseHeaders = await receive(client, request, (chunk) => chunks.push(chunk));
    const headers = KEPT_HEADERS.flatMap((name) => {
      const value = responseHeaders[name];
      return value === undefined ? [] : [[name, String(value)] as const];
    });
    const asked = { url: request.path, headers: encodingHeaders(request) };
    responses.set(responseKey(asked), { headers: Object.fromEntries(headers), body: Buffer.concat(chunks) });
  }
  return responses;
}

/** What tells one response from another, of a request as Node's servers have it. */
export function responseKey({ url, headers }: AskedFor): string {
  return `${headers.accept} ${headers['accept-encoding']} ${url}`;
}

interface AskedFor {
  readonly url?: string | undefined;
  readonly headers: {
    readonly accept?: string | undefined;
    readonly 'accept-encoding'?: string | string[] | undefined;
  };
}
