import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { createSecureContext, type SecureContext } from 'node:tls';

/** Options of a request besides its URL. */
export type HttpsRequest = Pick<
  RequestOptions,
  'ca' | 'cert' | 'key' | 'agent' | 'rejectUnauthorized' | 'signal' | 'headers' | 'method' | 'localAddress'
> & {
  readonly token?: string;
  readonly body?: string | Uint8Array;
};

/** A response with its whole body. */
export interface HttpsResponse {
  readonly status: number;
  readonly statusMessage: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** Sends a request over HTTP/1.1, on its own connection unless an agent is given. */
export async function requestHttps(url: string, options: HttpsRequest): Promise<HttpsResponse> {
  const response = await openHttps(url, options);
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const { statusCode = 0, statusMessage = '', headers, rawHeaders } = response;
  return { status: statusCode, statusMessage, headers, rawHeaders, body: Buffer.concat(chunks).toString() };
}

/** Sends a request and resolves with the head of the response, before its body. */
export function openHttps(
  url: string,
  { token, body, ca, cert, key, ...options }: HttpsRequest,
): Promise<IncomingMessage> {
  const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const headers = { ...authorization, ...(options.headers as Record<string, string> | undefined) };
    // An agent may have its own certificates.
    const tls =
      (ca ?? cert ?? key) === undefined ? {} : { secureContext: secureContextOf({ ca, cert, key }) };
    const outgoing = request(url, { agent: false, ...tls, ...options, headers }, resolve);
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

const MAX_CONTEXTS = 100;
const contexts = new Map<string, SecureContext>();

/** Creates a context once for each set of certificates: parsing them takes longer than the handshake. */
function secureContextOf({ ca, cert, key }: Pick<HttpsRequest, 'ca' | 'cert' | 'key'>): SecureContext {
  const pem = JSON.stringify([ca, cert, key].map(String));
  const context = contexts.get(pem) ?? createSecureContext({ ca, cert, key });
  if (contexts.size >= MAX_CONTEXTS) contexts.clear();
  contexts.set(pem, context);
  return context;
}
