import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { ConnectionLimits } from '#lib/apiserver/serving/connection-gate.ts';
import { type ConnectionTimeouts, SecureServer } from '#lib/apiserver/serving/secure-server.ts';
import type { ServingCertificates } from '#lib/apiserver/serving/serving-certificates.ts';
import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { FairSemaphore } from '#lib/concurrency/semaphore.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { printable } from '#lib/telemetry/printable.ts';
import type { Clock } from '#lib/time/clock.ts';
import { UnreadableReview } from './admission-review.ts';
import type { Admission } from './admission-webhook.ts';

/** Options of {@link startWebhookServer}. */
interface WebhookServerOptions {
  /** `undefined` for every interface. */
  readonly host: string | undefined;
  readonly port: number;
  readonly certificates: ServingCertificates;
  readonly admission: Pick<Admission, 'paths' | 'review'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** By default 256 connections, 32 of them in their TLS handshake. */
  readonly connectionLimits?: ConnectionLimits;
}

/** Old and new object of 1.5 MiB each, the maximum of etcd. */
const MAX_BYTES = 3 * 1024 * 1024;
/** Memory for all bodies that are being received or reviewed; one address may use half of it. */
const MAX_BUFFERED_BYTES = 32 * 1024 * 1024;
const BLOCK_BYTES = 16 * 1024;
/** Chunks are joined at this number: each costs some hundred bytes, however short it is. */
const MAX_PIECES = 1_024;
/** Longer bodies are parsed in separate time slices: each takes tens of milliseconds. */
const LONG_BODY_BYTES = 64 * 1024;
const CONNECTION_LIMITS: ConnectionLimits = { connections: 256, handshakes: 32 };
const MAX_HEADER_BYTES = 16 * 1024;
/** A request that is not complete within 10 s is closed: the API server does not wait longer for the response. */
const TIMEOUTS: ConnectionTimeouts = { idleMs: 90_000, headersMs: 10_000, requestMs: 10_000, checkMs: 1_000 };
/** Timeout of pending requests when the server stops. */
const DRAIN_MS = 1_000;

/** A request that is rejected without a review. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

/**
 * Serves admission reviews over TLS to any client: an API server sends no credentials by default. The response depends only on
 * the review and on other objects with the same target. Connections and memory for bodies are limited by address, so that no
 * address can exhaust them.
 *
 * @throws when it cannot listen at the address or use the certificate
 */
export async function startWebhookServer(
  options: WebhookServerOptions,
): Promise<AsyncDisposable & { readonly port: number; readonly connectionCount: number }> {
  const { host = '', port, certificates, admission, clock, logger } = options;
  const { connectionLimits = CONNECTION_LIMITS } = options;
  const memory = new FairSemaphore(MAX_BUFFERED_BYTES);
  const share = new EventLoopShare(clock);
  const failures = new FailureLog({ logger, failing: 'Cannot review object' });
  async function review(request: Request, reserve: Reserve): Promise<object> {
    const path = request.url?.split('?', 1)[0] ?? '';
    if (!admission.paths.has(path)) throw new Refusal(404, 'no webhook is served at this path');
    if (request.method !== 'POST') throw new Refusal(405, 'the method must be POST');
    if (!/^application\/json\b/.test(request.headers['content-type'] ?? ''))
      throw new Refusal(415, 'the content type must be application/json');
    const body = await receive(request, reserve);
    if (body.length > LONG_BODY_BYTES) await share.next(NEVER);
    return await admission.review(path, body).catch((error: unknown) => {
      throw error instanceof UnreadableReview ? new Refusal(400, describeError(error)) : error;
    });
  }
  async function respond(request: Request, response: Response): Promise<void> {
    using reserved = new DisposableStack();
    const { remoteAddress: address = '' } = request.socket;
    const reserve = (bytes: number) => {
      const permit = memory.tryAcquire(address, bytes);
      if (permit) reserved.use(permit);
      return permit !== undefined;
    };
    try {
      const text = JSON.stringify(await review(request, reserve));
      failures.succeed();
      server.noteAddress(address, 'probe');
      send(response, 200, text, 'application/json');
    } catch (error) {
      const status = error instanceof Refusal ? error.status : 500;
      if (status >= 500) failures.fail(error);
      if (!request.complete) response.setHeader('Connection', 'close');
      const text =
        error instanceof Refusal ? printable(describeError(error)) : 'Cannot review object: internal error';
      send(response, status, `${text}\n`, 'text/plain; charset=utf-8');
    }
  }
  const server = await SecureServer.start({
    ...{ bindAddress: host, port, certificates, clock, logger, connectionLimits },
    ...{ timeouts: TIMEOUTS, drainMs: DRAIN_MS, maxHeaderBytes: MAX_HEADER_BYTES },
    maxStreamsPerConnection: 0, // API servers use one HTTP/1.1 connection for each concurrent review
    readsBodies: true,
    maxBodyBytes: 2 * MAX_BYTES, // with sizes of chunks
    onRequest: (request, response) => void respond(request, response),
    onRefused: () => {},
    onIdle: () => {},
  });
  return {
    port: server.address.port,
    get connectionCount() {
      return server.connectionCount;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const NEVER = new AbortController().signal;

/** @returns whether the memory was reserved */
type Reserve = (bytes: number) => boolean;

/** Reads a body of at most {@link MAX_BYTES}, for which memory is reserved as it arrives. */
async function receive(request: Request, reserve: Reserve): Promise<Uint8Array> {
  const joined: Buffer[] = [];
  let pieces: Buffer[] = [];
  let [bytes, reservedBytes] = [0, 0];
  try {
    for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > MAX_BYTES) throw new Refusal(413, `the body exceeds ${MAX_BYTES} bytes`);
      const blocks = Math.ceil((bytes - reservedBytes) / BLOCK_BYTES);
      if (blocks > 0 && !reserve(blocks * BLOCK_BYTES)) throw new Refusal(503, 'too many concurrent reviews');
      reservedBytes += blocks * BLOCK_BYTES;
      pieces.push(piece);
      if (pieces.length < MAX_PIECES) continue;
      joined.push(Buffer.concat(pieces));
      pieces = [];
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(400, 'the request is incomplete');
  }
  return Buffer.concat([...joined, ...pieces], bytes);
}

function send(response: Response, status: number, text: string, type: string): void {
  if (response.destroyed || response.headersSent) return;
  const headers = { 'content-type': type, 'content-length': Buffer.byteLength(text) };
  (response as ServerResponse).writeHead(status, headers).end(text);
}
