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

/** As much of a body as Go's servers read though nobody wants it. */
const MAX_BODY_BYTES = 256 * 1024;

/** For so long a client may go on to read the response before the connection is cut, as in Go. */
const LINGER_MS = 500;

/**
 * Reads no more than a bounded part of the body of an HTTP/1.1 request: nothing here wants one, but without reading
 * it the next request on the connection is not reached. One that is longer gets its response, and ends its connection. HTTP/2 has
 * its windows for that.
 */
export function limitBody(
  request: IncomingMessage,
  response: ServerResponse,
  { clock, onExceeded }: { readonly clock: Clock; readonly onExceeded: () => void },
): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (encoding === undefined && (length === undefined || length === '0')) return;
  let bytes = 0;
  const count = (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) return;
    request.off('data', count);
    request.pause();
    onExceeded();
    if (!response.headersSent) response.setHeader('Connection', 'close');
    if (response.writableFinished) cutOff(request, clock);
    else response.once('finish', () => cutOff(request, clock));
  };
  request.on('data', count);
}

/** Says that nothing more will come, and leaves the client the time to read what has. */
function cutOff({ socket }: IncomingMessage, clock: Clock): void {
  const timer = new AbortController();
  socket.once('close', () => timer.abort());
  socket.end();
  clock.sleep(LINGER_MS, { signal: timer.signal }).then(
    () => socket.destroy(),
    () => {}, // the client has left
  );
}

/** So many requests of one HTTP/1.1 connection may wait for their responses; clients that pipeline at all send a few. */
const MAX_PIPELINED = 100;

/**
 * Cuts off connections on which too many requests wait behind one another: Node makes a request of all that has come, however
 * many responses are still to be written. Not a semaphore: nothing can wait, since Node has made the request already.
 */
export class PipelineLimit {
  readonly #underWay = new WeakMap<Socket, number>();
  readonly #onExceeded: () => void;

  constructor(onExceeded: () => void) {
    this.#onExceeded = onExceeded;
  }

  /** @returns whether the request is to be served; `leave` is to follow once nobody waits for its response any more */
  enter(socket: Socket): boolean {
    if (socket.destroyed) return false; // the rest of what came in one packet
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
 * Responds to what Node's HTTP/1.1 parser makes no request of. A method that it does not know is one that nothing
 * here does, so its response is that of any other wrong method.
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

/** What to count it as; `undefined` where nothing is refused, as when a client leaves before its response has. */
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

/** A request that has come in. */
interface PacedRequest {
  /** Where it comes from. */
  readonly address: string;
  readonly begin: () => void;
  /** Whether its client has left. */
  readonly isOver: () => boolean;
}

/** So many requests begin before others have had the event loop: they take some milliseconds. */
const MAX_CONCURRENT = 16;

/**
 * Begins requests, no more than a few in each time slice: thousands may come in one packet. Of those that wait, each
 * address that they come from begins one before any begins another. A request that was taken back meanwhile, as by RST_STREAM, never begins.
 *
 * Not a `TokenBucket`: the pace is the event loop's, not the clock's.
 */
export class RequestPacer {
  readonly #waiting = new Map<string, Set<PacedRequest>>();
  #begunCount = 0;
  #slice: NodeJS.Immediate | undefined;

  take(request: PacedRequest): void {
    if (this.#waiting.size === 0 && this.#begunCount < MAX_CONCURRENT) {
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

  /** While none waits it may stay open until something comes: the event loop would look for it twice else. */
  #openSlice(): void {
    this.#slice ??= setImmediate(() => this.#beginWaiting()).unref();
  }

  #beginWaiting(): void {
    this.#slice = undefined;
    this.#begunCount = 0;
    while (this.#begunCount < MAX_CONCURRENT) {
      const next = this.#next();
      if (!next) return;
      if (!next.isOver()) this.#begin(next);
    }
    if (this.#waiting.size > 0) this.#comeBack();
  }

  #comeBack(): void {
    this.#slice?.ref();
  }

  /** The first of the address that is next. */
  #next(): PacedRequest | undefined {
    const [entry] = this.#waiting;
    if (!entry) return undefined;
    const [address, requests] = entry;
    const [next] = requests;
    if (next) requests.delete(next);
    this.#waiting.delete(address);
    if (requests.size > 0) this.#waiting.set(address, requests); // behind the others
    return next;
  }
}
