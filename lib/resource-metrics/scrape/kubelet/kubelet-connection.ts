import type net from 'node:net';
import { Client } from 'undici';
import { ExcessiveResponse } from '#lib/resource-metrics/scrape/response-bounds.ts';
import { onAbort } from '#lib/time/abort-signal.ts';
import { ConnectionClosed } from './kubelet-error.ts';
import { KubeletResponse } from './kubelet-response.ts';
import type { ResponseMemory } from './response-memory.ts';

/** What is asked for, by whom, how long it is waited for, and what is made of the response. */
export interface KubeletRequest<Read> {
  readonly path: string;
  /** The value of the Authorization header. */
  readonly authorization: string | undefined;
  readonly signal: AbortSignal;
  /** Called when the response waits for memory of ours; the result is disposed of when it waits no longer. */
  readonly pause?: (() => Disposable) | undefined;
  /** Reads the body of the response at once: its memory is given back afterwards. */
  readonly read: (body: Buffer) => Read;
}

/** What a connection needs from outside. */
export interface KubeletConnectionOptions {
  /** The value of the Host header. */
  readonly host: string;
  /** A longer response is refused. */
  readonly maxResponseBytes: number;
  readonly memory: ResponseMemory;
}

/** Whom undici takes itself to be connected to: who it really is was settled when the socket was dialled. */
const ORIGIN = new URL('http://kubelet');

/** As long as a timer can be: a connection is kept until its owner closes it, or the kubelet does, or has said when it will. */
const KEEP_ALIVE_MS = 2 ** 31 - 1;

/** More than this before a body, or behind it, is there only if something is wrong. */
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * What a response may take to send beside its body: head, chunks, TLS. A kubelet sends chunks of 2 kB at least, which is
 * less than a hundredth; the first bytes may lie in our buffers yet.
 */
const mostOverheadBytes = (bodyBytes: number) => 256 * 1024 + bodyBytes / 4;

/** HTTP to one kubelet over one socket that is there already: undici never dials. */
export class KubeletConnection {
  readonly #socket: net.Socket;
  readonly #client: Client;
  readonly #options: KubeletConnectionOptions;
  readonly #bounded = new Set<Bounded>();
  /** Of the latest response. */
  #bodyBytes = 0;

  constructor(socket: net.Socket, options: KubeletConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('readable', () => this.#look());
    let isNew = true;
    this.#client = new Client(ORIGIN, {
      connect: (_, callback) => {
        const isOpen = isNew && this.isOpen;
        isNew = false;
        queueMicrotask(() => (isOpen ? callback(null, socket) : callback(new ConnectionClosed(), null)));
      },
      allowH2: false,
      useMilo: false,
      pipelining: 1, // one response after the other
      headersTimeout: 0, // the signals of requests bound both, on our own clock
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
  }

  /** Whether it can take a request. */
  get isOpen(): boolean {
    return this.#socket.readyState === 'open';
  }

  /**
   * Asks, once the requests before are over.
   *
   * @returns what was read of the response
   * @throws {KubeletStatusError} for every status but 200; what `read` throws; {@link ConnectionClosed}, the signal's reason, or
   * why else there is no response, and then the connection is closed
   */
  async get<Read>({ path, authorization, signal, pause, read }: KubeletRequest<Read>): Promise<Read> {
    signal.throwIfAborted();
    const { host, maxResponseBytes: maxBytes, memory } = this.#options;
    const headers = ['host', host];
    if (authorization !== undefined) headers.push('authorization', authorization);
    const expectedBytes = this.#bodyBytes;
    const response = new KubeletResponse({ read, pause, maxBytes, memory, expectedBytes });
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

  /** Counts what the parser passes over, too: lines and chunks without end would keep us busy for as long as a request may take. */
  #boundOverhead(response: Pick<KubeletResponse<unknown>, 'receivedBytes' | 'fail'>): Disposable {
    const bounded = { response, startBytes: this.#socket.bytesRead };
    this.#bounded.add(bounded);
    return { [Symbol.dispose]: () => void this.#bounded.delete(bounded) };
  }

  /** One listener for all requests: adding and removing one for each costs more than all that it does. */
  #look(): void {
    for (const { response, startBytes } of this.#bounded) {
      const { receivedBytes } = response;
      const overheadBytes = this.#socket.bytesRead - startBytes - receivedBytes;
      if (overheadBytes <= mostOverheadBytes(receivedBytes)) continue;
      response.fail(new ExcessiveResponse('bytes', 'the response takes far more to send than it is long'));
      this.close();
    }
  }
}

/** A response that comes in, and how much had been read off the socket before it was asked for. */
interface Bounded {
  readonly response: Pick<KubeletResponse<unknown>, 'receivedBytes' | 'fail'>;
  readonly startBytes: number;
}
