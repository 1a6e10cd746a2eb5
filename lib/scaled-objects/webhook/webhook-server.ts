import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { ServingCertificates } from '#lib/apiserver/tls/serving-certificates.ts';
import { describeError, type Logger } from '#lib/telemetry/logger.ts';
import { printable } from '#lib/telemetry/printable.ts';
import type { Admission } from './admission.ts';
import { UnreadableReview } from './unreadable-review.ts';

/** What the server is started with. */
export interface WebhookServerOptions {
  /** `undefined` for every interface. */
  readonly host: string | undefined;
  readonly port: number;
  readonly certificates: ServingCertificates;
  readonly admission: Pick<Admission, 'paths' | 'review'>;
  readonly logger: Logger;
}

/** Objects of 1.5 MiB, the old one and the new one: what etcd keeps at most. */
const MOST_BYTES = 3 * 1024 * 1024;
/** Of all bodies that are being received or judged. */
const MOST_BYTES_HELD = 16 * 1024 * 1024;
const MAX_CONNECTIONS = 128;
/** A request that has not come by then is cut off: the API server waits no longer for it, either. */
const REQUEST_TIMEOUT_MS = 10_000;
const CHECK_MS = 1_000;
const IDLE_MS = 90_000;

/** A refusal to take a request at all. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Serves reviews over TLS, to who asks: an API server shows no credentials unless it is configured to. What is told depends on the
 * review alone, and on who else has the same target.
 *
 * @throws when the address cannot be listened at or the certificate cannot be used
 */
export async function startWebhookServer(
  options: WebhookServerOptions,
): Promise<AsyncDisposable & { readonly port: number }> {
  const { host, port, certificates, admission, logger } = options;
  const { createServer } = await import('node:https');
  let heldBytes = 0;
  let isFailing = false;
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let ownBytes = 0;
    const hold = (bytes: number) => {
      ownBytes += bytes;
      heldBytes += bytes;
      return heldBytes <= MOST_BYTES_HELD;
    };
    try {
      const path = request.url?.split('?', 1)[0] ?? '';
      if (!admission.paths.has(path)) throw new Refusal(404, 'nothing is reviewed here');
      if (request.method !== 'POST') throw new Refusal(405, 'reviews are posted');
      if (!/^application\/json\b/.test(request.headers['content-type'] ?? ''))
        throw new Refusal(415, 'reviews are application/json');
      const body = await receive(request, hold);
      const review = await admission.review(path, body).catch((error: unknown) => {
        throw error instanceof UnreadableReview ? new Refusal(400, describeError(error)) : error;
      });
      isFailing = false;
      send(response, 200, JSON.stringify(review), 'application/json');
    } catch (error) {
      const status = error instanceof Refusal ? error.status : 500;
      if (status >= 500) {
        if (!isFailing) logger.error('Cannot judge an object', error);
        isFailing = true;
      }
      if (!request.complete) response.setHeader('Connection', 'close');
      const text =
        error instanceof Refusal ? printable(describeError(error)) : 'the object could not be judged';
      send(response, status, `${text}\n`, 'text/plain; charset=utf-8');
    } finally {
      heldBytes -= ownBytes;
    }
  }
  const tls = () => ({ ...certificates.current, minVersion: 'TLSv1.2' as const });
  const server = createServer(
    {
      ...tls(),
      ...{
        requestTimeout: REQUEST_TIMEOUT_MS,
        headersTimeout: REQUEST_TIMEOUT_MS,
        keepAliveTimeout: IDLE_MS,
      },
      ...{ connectionsCheckingInterval: CHECK_MS, handshakeTimeout: REQUEST_TIMEOUT_MS },
    },
    (request, response) => void respond(request, response),
  );
  const connections = new Set<Socket>();
  server.on('connection', (connection: Socket) => {
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('tlsClientError', (_, socket) => socket.destroy());
  certificates.onChange(() => server.setSecureContext(tls()));
  server.listen({ port, host });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const connection of connections) connection.destroy(); // those in the middle of their handshake, too
      await closed;
    },
  };
}

/** The body, of which no more is held than its bound, and of all together no more than theirs. */
async function receive(request: IncomingMessage, hold: (bytes: number) => boolean): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      chunks.push(chunk);
      const isHeld = hold(chunk.length);
      if (bytes > MOST_BYTES) throw new Refusal(413, `a review has no more than ${MOST_BYTES} bytes`);
      if (!isHeld) throw new Refusal(503, 'too many reviews come at once');
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(400, 'the request did not come whole');
  }
  return Buffer.concat(chunks);
}

function send(response: ServerResponse, status: number, text: string, type: string): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text);
}
