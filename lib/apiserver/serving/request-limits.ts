import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { documentJson } from '#lib/apiserver/encoding/document.ts';
import { goJson } from '#lib/apiserver/encoding/json.ts';
import {
  badRequest,
  methodNotAllowed,
  StatusError,
  statusDocument,
} from '#lib/apiserver/http/status-error.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { RefusalReason } from './serving-telemetry.ts';

/** As much of an unused body as Go's servers read. */
const MAX_BODY_BYTES = 256 * 1024;
/** Each takes a microsecond, even if it has one byte. */
const MAX_BODY_PIECES = 512;

/** How long a client may continue to read the response before the connection is cut, as in Go. */
const LINGER_MS = 500;

/**
 * Discards a bounded part of the body of an HTTP/1.1 request: no endpoint uses it, but the next request of the
 * connection comes after it. A longer one gets its response, and ends its connection. HTTP/2 has flow control for that.
 */
export function limitBody(
  request: IncomingMessage,
  response: ServerResponse,
  { clock, onExceeded }: { readonly clock: Clock; readonly onExceeded: () => void },
): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (encoding === undefined && (length === undefined || length === '0')) return;
  let [bytes, pieces] = [0, 0];
  const count = (chunk: Uint8Array) => {
    bytes += chunk.length;
    pieces++;
    if (bytes <= MAX_BODY_BYTES && pieces <= MAX_BODY_PIECES) return;
    request.off('data', count);
    request.pause();
    onExceeded();
    if (!response.headersSent) response.setHeader('Connection', 'close');
    if (response.writableFinished) cutOff(request, clock);
    else response.once('finish', () => cutOff(request, clock));
  };
  request.on('data', count);
}

/** Sends the end of the stream, and leaves the client time to read. */
function cutOff({ socket }: IncomingMessage, clock: Clock): void {
  const timer = new AbortController();
  socket.once('close', () => timer.abort());
  socket.end();
  clock.sleep(LINGER_MS, { signal: timer.signal }).then(
    () => socket.destroy(),
    () => {}, // the client has left
  );
}

/**
 * Maximum number of requests of one HTTP/1.1 connection that wait for their responses; clients that pipeline send a
 * few.
 */
const MAX_PIPELINED = 100;

/**
 * Cuts off connections on which too many requests wait in a pipeline: Node creates all requests that have arrived,
 * however many responses are still to be written. Not a semaphore: nothing can wait, since Node has created the request
 * already.
 */
export class PipelineLimit {
  readonly #underWay = new WeakMap<Socket, number>();
  readonly #onExceeded: () => void;

  constructor(onExceeded: () => void) {
    this.#onExceeded = onExceeded;
  }

  /** @returns whether to serve the request; call `leave` once its response is sent or its client has left */
  enter(socket: Socket): boolean {
    if (socket.destroyed) return false; // the rest of what arrived in one packet
    const count = (this.#underWay.get(socket) ?? 0) + 1;
    if (count > MAX_PIPELINED) {
      this.#onExceeded();
      socket.destroy();
      return false;
    }
    this.#underWay.set(socket, count);
    return true;
  }

  leave(socket: Socket): void {
    this.#underWay.set(socket, (this.#underWay.get(socket) ?? 1) - 1);
  }
}

/**
 * Responds to input that Node's HTTP/1.1 parser rejects. An unknown method gets the same response as any other
 * unsupported method.
 */
export function refuseMalformed(error: Error & { readonly code?: string }, connection: Duplex): void {
  if (!connection.writable) {
    connection.destroy();
    return;
  }
  const failure = failureOf(error.code);
  const body = goJson(documentJson(statusDocument(failure)), 2);
  const head = [
    `HTTP/1.1 ${failure.code} ${failure.reason}`,
    `Audit-Id: ${randomUUID()}`,
    'Cache-Control: no-cache, private',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  connection.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** The reason to count; `undefined` where nothing is refused, as when a client leaves before its response is sent. */
export function refusalReasonOf(code: string | undefined): RefusalReason | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'too_slow';
  return code?.startsWith('HPE_') ? 'malformed' : undefined;
}

function failureOf(code: string | undefined): StatusError {
  switch (code) {
    case 'HPE_INVALID_METHOD':
      return methodNotAllowed();
    case 'HPE_HEADER_OVERFLOW':
      return new StatusError(431, 'RequestHeaderFieldsTooLarge', 'the request headers are too large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new StatusError(408, 'Timeout', 'the request was not sent in time');
    default:
      return badRequest('the request is malformed');
  }
}

interface PacedRequest {
  /** Address of its client. */
  readonly address: string;
  readonly begin: () => void;
  /** Whether its client has left. */
  readonly isOver: () => boolean;
}

/** Number of requests that begin before the event loop continues: what follows later in the same turn has a bound, too. */
const MAX_CONCURRENT = 16;
/** No request begins later in a slice: a single one may take milliseconds, as one with a selector of 16 KiB. */
const MAX_SLICE_MS = 5;

/**
 * Begins requests, no more than a few in each time slice of a few milliseconds: thousands may arrive in one packet.
 * Addresses take turns. A request that was canceled meanwhile, as by RST_STREAM, never begins.
 *
 * Not a `TokenBucket`: the pace is the event loop's, not the clock's.
 */
export class RequestPacer {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #waiting = new Map<string, Set<PacedRequest>>();
  #begunCount = 0;
  #sinceMs = 0;
  #slice: NodeJS.Immediate | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  take(request: PacedRequest): void {
    if (this.#waiting.size === 0 && !this.#isSliceSpent()) {
      this.#begin(request);
      return;
    }
    const { address } = request;
    const waiting = this.#waiting.get(address) ?? new Set();
    this.#waiting.set(address, waiting.add(request));
    this.#comeBack();
  }

  #begin(request: PacedRequest): void {
    this.#begunCount++;
    this.#openSlice();
    request.begin();
  }

  /** While none waits the slice may stay open until one arrives, which spares the event loop a turn. */
  #openSlice(): void {
    if (this.#slice) return;
    this.#sinceMs = this.#clock.monotonicMs();
    this.#slice = setImmediate(() => this.#beginWaiting()).unref();
  }

  /** A slice that stayed open counts as spent: the next request begins in the same turn of the event loop. */
  #isSliceSpent(): boolean {
    if (!this.#slice) return false;
    return this.#begunCount >= MAX_CONCURRENT || this.#clock.monotonicMs() - this.#sinceMs >= MAX_SLICE_MS;
  }

  #beginWaiting(): void {
    this.#slice = undefined;
    this.#begunCount = 0;
    while (!this.#isSliceSpent()) {
      const next = this.#next();
      if (!next) return;
      if (!next.isOver()) this.#begin(next);
    }
    if (this.#waiting.size > 0) this.#comeBack();
  }

  #comeBack(): void {
    this.#slice?.ref();
  }

  /** The first of the next address. */
  #next(): PacedRequest | undefined {
    const [entry] = this.#waiting;
    if (!entry) return undefined;
    const [address, requests] = entry;
    const [next] = requests;
    if (next) requests.delete(next);
    this.#waiting.delete(address);
    if (requests.size > 0) this.#waiting.set(address, requests); // after the others
    return next;
  }
}
