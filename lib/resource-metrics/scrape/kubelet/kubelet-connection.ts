import type net from 'node:net';
import { Client } from 'undici';
import type { ResponseTimes } from '#lib/resource-metrics/metrics-batch.ts';
import { ExcessiveResponse } from '#lib/resource-metrics/scrape/response-bounds.ts';
import { onAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { ConnectionClosed } from './kubelet-error.ts';
import { KubeletResponse } from './kubelet-response.ts';
import type { ResponseMemory } from './response-memory.ts';

export interface KubeletRequest<Read> {
  readonly path: string;
  /** The Authorization header. */
  readonly authorization: string | undefined;
  readonly signal: AbortSignal;
  /** Called when the response waits for memory; the result is disposed when it gets it. */
  readonly pause?: (() => Disposable) | undefined;
  /** Reads the body synchronously; its memory is released afterwards. */
  readonly read: (body: Buffer, times: ResponseTimes) => Read;
}

interface KubeletConnectionOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** The Host header. */
  readonly host: string;
  /** Longer responses are rejected. */
  readonly maxResponseBytes: number;
  readonly memory: ResponseMemory;
}

/** A placeholder: the socket is already connected and verified. */
const ORIGIN = new URL('http://kubelet');

/** The longest timer: a connection remains open until the pool or the kubelet closes it. */
const KEEP_ALIVE_MS = 2 ** 31 - 1;

/** Limit of headers, and of trailers; kubelets send much less. */
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * Limit of the bytes of a response besides its body: head, chunk sizes, TLS. Chunks of a kubelet have at least 2 kB,
 * so their overhead is below 1 %. The first bytes may still be buffered.
 */
const maxOverheadBytes = (bodyBytes: number) => 256 * 1024 + bodyBytes / 4;

/** HTTP to one kubelet over an existing socket; undici never dials. */
export class KubeletConnection {
  readonly #socket: net.Socket;
  readonly #client: Client;
  readonly #options: KubeletConnectionOptions;
  readonly #bounded = new Set<BoundedResponse>();
  /** Length of the last response. */
  #bodyBytes = 0;

  constructor(socket: net.Socket, options: KubeletConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('readable', () => this.#checkOverhead());
    let isNew = true;
    this.#client = new Client(ORIGIN, {
      connect: (_, callback) => {
        const isOpen = isNew && this.isOpen;
        isNew = false;
        queueMicrotask(() => (isOpen ? callback(null, socket) : callback(new ConnectionClosed(), null)));
      },
      allowH2: false,
      useMilo: false,
      pipelining: 1,
      headersTimeout: 0, // signals limit both, on the injected clock
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
  }

  /** Whether it accepts requests. */
  get isOpen(): boolean {
    return this.#socket.readyState === 'open';
  }

  /**
   * Sends a request after previous ones have completed.
   *
   * @returns the result of `read`
   * @throws {KubeletStatusError} for a status other than 200; what `read` throws; {@link ConnectionClosed}, the
   * signal's reason, or another cause, with which the connection is closed
   */
  async get<Read>({ path, authorization, signal, pause, read }: KubeletRequest<Read>): Promise<Read> {
    signal.throwIfAborted();
    const { clock, host, maxResponseBytes: maxBytes, memory } = this.#options;
    const headers = ['host', host];
    if (authorization !== undefined) headers.push('authorization', authorization);
    const expectedBytes = this.#bodyBytes;
    const response = new KubeletResponse({ clock, read, pause, maxBytes, memory, expectedBytes });
    using _aborted = onAbort(signal, () => response.fail(signal.reason));
    using _bounded = this.#boundOverhead(response);
    this.#client.dispatch({ method: 'GET', path, headers }, response);
    const result = await response.result;
    this.#bodyBytes = response.receivedBytes;
    return result;
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Also counts what the parser discards: endless header lines or chunk extensions would occupy the process. */
  #boundOverhead(response: Pick<KubeletResponse<unknown>, 'receivedBytes' | 'fail'>): Disposable {
    const bounded = { response, startBytes: this.#socket.bytesRead };
    this.#bounded.add(bounded);
    return { [Symbol.dispose]: () => void this.#bounded.delete(bounded) };
  }

  /** One listener for all requests: adding one for each costs more than the check. */
  #checkOverhead(): void {
    for (const { response, startBytes } of this.#bounded) {
      const { receivedBytes } = response;
      const overheadBytes = this.#socket.bytesRead - startBytes - receivedBytes;
      if (overheadBytes <= maxOverheadBytes(receivedBytes)) continue;
      response.fail(new ExcessiveResponse('bytes', 'the transfer overhead of the response is too large'));
      this.close();
    }
  }
}

/** A response in progress, and the number of bytes read from the socket before its request. */
interface BoundedResponse {
  readonly response: Pick<KubeletResponse<unknown>, 'receivedBytes' | 'fail'>;
  readonly startBytes: number;
}
