import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { formatMemoryBytes } from '#lib/kubernetes/quantity.ts';
import type { ResponseTimes } from '#lib/resource-metrics/metrics-batch.ts';
import { ExcessiveResponse } from '#lib/resource-metrics/scrape/response-bounds.ts';
import { toError } from '#lib/telemetry/error-text.ts';
import type { Clock } from '#lib/time/clock.ts';
import { explainHttpError, KubeletStatusError } from './kubelet-error.ts';
import type { ResponseMemory, ResponseMemoryListener, ResponseShare } from './response-memory.ts';

/** The body of an error response is read up to this length. */
const MAX_REFUSAL_BYTES = 16 * 1024;

/** As in Go's client. */
const MAX_PROVISIONAL_RESPONSES = 5;

/** Longer texts are truncated in errors. */
const MAX_REFUSAL_LENGTH = 200;

/** UTF-8 has up to four bytes per character. */
const MAX_REFUSAL_TEXT_BYTES = 4 * MAX_REFUSAL_LENGTH;

interface KubeletResponseOptions<Read> extends ReceivedBodyOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Reads the body synchronously; its memory is released afterwards. */
  readonly read: (body: Buffer, times: ResponseTimes) => Read;
  /** Called when the body waits for memory; the result is disposed when it gets it. */
  readonly pause?: (() => Disposable) | undefined;
}

/** Receives one response from undici; settles `result` once. */
export class KubeletResponse<Read> implements Dispatcher.DispatchHandler {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #read: (body: Buffer, times: ResponseTimes) => Read;
  readonly #body: ReceivedBody;
  readonly #pause: (() => Disposable) | undefined;
  #paused: Disposable | undefined;
  readonly #settled = Promise.withResolvers<Read>();
  #controller: Dispatcher.DispatchController | undefined;
  #requestedAtMs = Number.NaN;
  #respondedAtMs = Number.NaN;
  #statusCode = 0;
  #provisionalResponses = 0;
  #receivedBytes = 0;
  #refusal: Buffer = Buffer.alloc(0);
  #refusalBytes = 0;
  /** Whether the response ended while its last part waited for memory. */
  #hasEnded = false;
  #failure: { readonly reason: unknown } | undefined;

  constructor({ clock, read, pause, ...options }: KubeletResponseOptions<Read>) {
    this.#clock = clock;
    this.#read = read;
    this.#pause = pause;
    this.#body = new ReceivedBody(options, {
      onReserved: () => this.#resume(),
      onEvicted: (reason) => this.fail(reason),
    });
  }

  /**
   * The result of `read`.
   *
   * Rejects with {@link KubeletStatusError} for a status other than 200, what `read` throws, the reason of {@link
   * fail}, or another cause.
   */
  get result(): Promise<Read> {
    return this.#settled.promise;
  }

  /** Bytes of the body received so far. */
  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** Ends the response, and its connection if the request was sent. */
  fail(reason: unknown): void {
    if (this.#failure) return;
    this.#failure = { reason };
    this.#release();
    this.#settled.reject(reason);
    this.#controller?.abort(toError(reason));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#failure) throw this.#failure.reason; // before sending the request
    this.#controller = controller;
    this.#requestedAtMs = this.#clock.monotonicMs();
  }

  onResponseStart(_: Dispatcher.DispatchController, statusCode: number, headers: IncomingHttpHeaders): void {
    this.#statusCode = statusCode; // provisional responses come first
    if (statusCode < 200 && ++this.#provisionalResponses > MAX_PROVISIONAL_RESPONSES)
      throw new ExcessiveResponse('parts', 'too many provisional responses');
    if (statusCode !== 200) return;
    this.#respondedAtMs = this.#clock.monotonicMs();
    const encoding = headers['content-encoding'] ?? 'identity';
    if (String(encoding).toLowerCase() !== 'identity') {
      throw new Error(`unsupported content encoding: ${encoding}`);
    }
    this.#body.expect(Number(headers['content-length'] ?? 0));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#receivedBytes += chunk.length;
    if (this.#statusCode === 200) {
      this.#body.append(chunk);
      if (this.#body.isWaiting) this.#wait(controller);
    } else this.#appendRefusal(chunk);
  }

  onResponseEnd(): void {
    if (this.#statusCode !== 200) this.#settled.reject(this.#refusalError());
    else if (this.#body.isWaiting) this.#hasEnded = true;
    else this.#finish();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#failure ??= { reason: error };
    this.#release();
    this.#settled.reject(explainHttpError(error));
  }

  #wait(controller: Dispatcher.DispatchController): void {
    controller.pause();
    this.#paused ??= this.#pause?.();
  }

  #stopWaiting(): void {
    this.#paused?.[Symbol.dispose]();
    this.#paused = undefined;
  }

  #release(): void {
    this.#stopWaiting();
    this.#body[Symbol.dispose]();
  }

  #resume(): void {
    this.#stopWaiting();
    if (this.#hasEnded) this.#finish();
    else queueMicrotask(() => this.#controller?.resume()); // outside of another connection's parser
  }

  #finish(): void {
    using body = this.#body;
    try {
      this.#settled.resolve(this.#read(body.contents(), this.#times()));
    } catch (error) {
      this.#settled.reject(error);
    }
  }

  #times(): ResponseTimes {
    const receivedAtMs = this.#clock.monotonicMs();
    return { requestedAtMs: this.#requestedAtMs, respondedAtMs: this.#respondedAtMs, receivedAtMs };
  }

  #appendRefusal(chunk: Buffer): void {
    const missingBytes = MAX_REFUSAL_TEXT_BYTES - this.#refusal.length;
    if (missingBytes > 0) this.#refusal = Buffer.concat([this.#refusal, chunk.subarray(0, missingBytes)]);
    this.#refusalBytes += chunk.length;
    if (this.#refusalBytes >= MAX_REFUSAL_BYTES) throw this.#refusalError();
  }

  #refusalError(): KubeletStatusError {
    const text = this.#refusal.toString().trim().slice(0, MAX_REFUSAL_LENGTH);
    return new KubeletStatusError(this.#statusCode, text);
  }
}

/** Above the response length of nearly all kubelets. */
const USUAL_RESPONSE_BYTES = 256 * 1024;

const MIN_CAPACITY_BYTES = 16 * 1024;

/** Growth over the previous response that fits without reallocation: a few pods and digits. */
const MARGIN = 1.0625;

/**
 * Longer buffers have their own pages, which are returned to the system at once. glibc's malloc would raise its
 * threshold after freeing one, and from then on retain twice its size.
 */
const MAX_ALLOCATION_BYTES = 1024 * 1024;

interface ReceivedBodyOptions {
  /** Longer bodies are rejected. */
  readonly maxBytes: number;
  /** Shared by bodies of more than the usual length. */
  readonly memory: ResponseMemory;
  /** Length of the previous response. Growing by doubling instead copies and clears memory three times. */
  readonly expectedBytes?: number | undefined;
}

/**
 * The body of one response, received into one growing buffer.
 *
 * Takes at most twice its length, or the expected length up to the usual one. Bodies of more than the usual length
 * share a budget and wait until they get their part. Disposal frees the memory without garbage collection.
 */
export class ReceivedBody implements Disposable {
  readonly #options: ReceivedBodyOptions;
  readonly #listener: ResponseMemoryListener;
  #buffer: ArrayBuffer | undefined;
  #bytes = 0;
  /** Chunks received while the body waits for memory. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #share: ResponseShare | undefined;

  /** @param listener is called when the body gets its memory or is evicted */
  constructor(options: ReceivedBodyOptions, listener: ResponseMemoryListener) {
    this.#options = options;
    this.#listener = listener;
  }

  /** Whether the transfer must pause until the listener is called. */
  get isWaiting(): boolean {
    return this.#waitingBytes > 0;
  }

  /** @throws {ExcessiveResponse} if a body of this length is too long */
  expect(bytes: number): void {
    if (bytes > this.#options.maxBytes) throw tooLong(this.#options.maxBytes);
  }

  /**
   * Appends a chunk. Check {@link isWaiting} afterwards.
   *
   * @throws {ExcessiveResponse} if the body is too long
   */
  append(chunk: Buffer): void {
    const bytes = this.#bytes + this.#waitingBytes + chunk.length;
    this.expect(bytes);
    this.#share?.recordProgress();
    if (!this.isWaiting && this.#makeCapacity(bytes)) this.#copy(chunk);
    else {
      this.#waiting.push(chunk);
      this.#waitingBytes += chunk.length;
    }
  }

  /** Valid until disposal. */
  contents(): Buffer {
    return Buffer.from(this.#buffer ?? new ArrayBuffer(0), 0, this.#bytes);
  }

  [Symbol.dispose](): void {
    this.#share?.[Symbol.dispose]();
    if (this.#buffer?.resizable) this.#buffer.resize(0);
    this.#buffer?.transferToFixedLength(0);
    this.#buffer = undefined;
    this.#bytes = 0;
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  #makeCapacity(bytes: number): boolean {
    const currentBytes = this.#buffer?.byteLength ?? 0;
    if (bytes <= currentBytes) return true;
    let capacityBytes = currentBytes > 0 ? 2 * currentBytes : this.#firstCapacityBytes();
    while (capacityBytes < bytes) capacityBytes *= 2;
    capacityBytes = Math.min(capacityBytes, this.#options.maxBytes);
    if (capacityBytes > USUAL_RESPONSE_BYTES) {
      this.#share ??= this.#options.memory.open({
        onReserved: () => this.#resume(),
        onEvicted: (reason) => this.#listener.onEvicted(reason),
      });
      if (!this.#share.reserve(capacityBytes)) return false;
    }
    this.#buffer = this.#grow(this.#buffer, capacityBytes);
    return true;
  }

  #firstCapacityBytes(): number {
    const { expectedBytes = 0 } = this.#options;
    const likelyBytes = Math.min(Math.ceil(expectedBytes * MARGIN), USUAL_RESPONSE_BYTES);
    return Math.max(likelyBytes, MIN_CAPACITY_BYTES);
  }

  #grow(buffer: ArrayBuffer | undefined, bytes: number): ArrayBuffer {
    if (bytes <= MAX_ALLOCATION_BYTES) return buffer ? buffer.transfer(bytes) : new ArrayBuffer(bytes);
    if (buffer?.resizable) {
      buffer.resize(bytes);
      return buffer;
    }
    const paged = new ArrayBuffer(bytes, { maxByteLength: this.#options.maxBytes });
    if (buffer) {
      new Uint8Array(paged).set(new Uint8Array(buffer));
      buffer.transfer(0);
    }
    return paged;
  }

  #resume(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const chunk of waiting) this.append(chunk);
    if (!this.isWaiting) this.#listener.onReserved();
  }

  #copy(chunk: Buffer): void {
    if (!this.#buffer) return;
    new Uint8Array(this.#buffer).set(chunk, this.#bytes);
    this.#bytes += chunk.length;
  }
}

function tooLong(maxBytes: number): ExcessiveResponse {
  return new ExcessiveResponse(
    'bytes',
    `the response is larger than ${formatMemoryBytes(maxBytes)} (--kubelet-max-response-bytes)`,
  );
}
