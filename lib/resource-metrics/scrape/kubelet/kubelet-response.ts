import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { formatMemoryBytes } from '#lib/kubernetes/quantity.ts';
import { ExcessiveResponse } from '#lib/resource-metrics/scrape/response-bounds.ts';
import { toError } from '#lib/telemetry/error-text.ts';
import { explainHttpError, KubeletStatusError } from './kubelet-error.ts';
import type { ResponseMemory, ResponseMemoryListener, ResponseShare } from './response-memory.ts';

/** The rest of a response that is no success is left unread from here on. */
const MAX_REFUSAL_BYTES = 16 * 1024;

/** As in Go's client: nobody asked for any. */
const MOST_PROVISIONAL_RESPONSES = 5;

/** A longer reason is cut in the error. */
const MAX_REFUSAL_LENGTH = 200;

/** UTF-8 takes up to four bytes a character. */
const KEPT_REFUSAL_BYTES = 4 * MAX_REFUSAL_LENGTH;

/** What takes a response, and how it is held until it is whole. */
interface KubeletResponseOptions<Read> extends ReceivedBodyOptions {
  /** Reads the body at once: its memory is given back afterwards. */
  readonly read: (body: Buffer) => Read;
  /** Called when the body waits for memory of ours; the result is disposed of when it waits no longer. */
  readonly pause?: (() => Disposable) | undefined;
}

/** One response of a kubelet as undici hands it over; settles `result` once. */
export class KubeletResponse<Read> implements Dispatcher.DispatchHandler {
  readonly #read: (body: Buffer) => Read;
  readonly #body: ReceivedBody;
  readonly #pause: (() => Disposable) | undefined;
  #paused: Disposable | undefined;
  readonly #settled = Promise.withResolvers<Read>();
  #controller: Dispatcher.DispatchController | undefined;
  #statusCode = 0;
  #provisionalResponses = 0;
  #receivedBytes = 0;
  #refusal: Buffer = Buffer.alloc(0);
  #refusalBytes = 0;
  /** Set when it ended while its last part was waiting for memory, as it may where its end is that of the connection. */
  #hasEnded = false;
  #failure: { readonly reason: unknown } | undefined;

  constructor({ read, pause, ...options }: KubeletResponseOptions<Read>) {
    this.#read = read;
    this.#pause = pause;
    this.#body = new ReceivedBody(options, {
      onHeld: () => this.#goOn(),
      onEvicted: (reason) => this.fail(reason),
    });
  }

  /**
   * What was read of the body.
   *
   * Rejects with {@link KubeletStatusError} for every status but 200; with what `read` throws; with the reason given to
   * {@link fail}; or with why else there is no response.
   */
  get result(): Promise<Read> {
    return this.#settled.promise;
  }

  /** How much of the body has come in. */
  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** Ends it early, and with it the connection, where the request was sent. */
  fail(reason: unknown): void {
    if (this.#failure) return;
    this.#failure = { reason };
    this.#release();
    this.#settled.reject(reason);
    this.#controller?.abort(toError(reason));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#failure) throw this.#failure.reason; // nothing is sent
    this.#controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, statusCode: number, headers: IncomingHttpHeaders): void {
    this.#statusCode = statusCode; // after provisional ones, that of the response
    if (statusCode < 200 && ++this.#provisionalResponses > MOST_PROVISIONAL_RESPONSES)
      throw new ExcessiveResponse('parts', 'it sends provisional responses without end');
    if (statusCode !== 200) return;
    const encoding = headers['content-encoding'] ?? 'identity';
    if (String(encoding).toLowerCase() !== 'identity') {
      throw new Error(`the response is encoded, though that was not asked for: ${encoding}`);
    }
    this.#body.expect(Number(headers['content-length'] ?? 0));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#receivedBytes += chunk.length;
    if (this.#statusCode === 200) {
      this.#body.append(chunk);
      if (this.#body.isWaiting) this.#wait(controller);
    } else this.#takeRefusal(chunk);
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

  #waitNoLonger(): void {
    this.#paused?.[Symbol.dispose]();
    this.#paused = undefined;
  }

  #release(): void {
    this.#waitNoLonger();
    this.#body[Symbol.dispose]();
  }

  #goOn(): void {
    this.#waitNoLonger();
    if (this.#hasEnded) this.#finish();
    else queueMicrotask(() => this.#controller?.resume()); // not in the middle of another connection's parser
  }

  #finish(): void {
    using body = this.#body;
    try {
      this.#settled.resolve(this.#read(body.contents()));
    } catch (error) {
      this.#settled.reject(error);
    }
  }

  #takeRefusal(chunk: Buffer): void {
    const missingBytes = KEPT_REFUSAL_BYTES - this.#refusal.length;
    if (missingBytes > 0) this.#refusal = Buffer.concat([this.#refusal, chunk.subarray(0, missingBytes)]);
    this.#refusalBytes += chunk.length;
    if (this.#refusalBytes >= MAX_REFUSAL_BYTES) throw this.#refusalError();
  }

  #refusalError(): KubeletStatusError {
    const text = this.#refusal.toString().trim().slice(0, MAX_REFUSAL_LENGTH);
    return new KubeletStatusError(this.#statusCode, text);
  }
}

/** Longer than the responses of nearly all kubelets. */
const USUAL_RESPONSE_BYTES = 256 * 1024;

const LEAST_CAPACITY_BYTES = 16 * 1024;

/** How much longer than expected a body may be and fit at once: a node's responses change by a few pods and digits. */
const MARGIN = 1.0625;

/**
 * What is longer lies in pages of its own, which go back to the system at once. From malloc, it would not only leave a
 * gap: glibc takes what was freed once for a size to be expected, and keeps twice as much from then on.
 */
const LARGEST_ALLOCATION_BYTES = 1024 * 1024;

/** How a body is held while it comes in. */
interface ReceivedBodyOptions {
  /** A longer one is refused. */
  readonly maxBytes: number;
  /** Where what is longer than usual takes its part. */
  readonly memory: ResponseMemory;
  /** How long it is likely to be, as the one before it was: growing by doubling copies all of it, and clears memory, three times. */
  readonly expectedBytes?: number | undefined;
}

/**
 * The body of one response as it comes in, in one buffer that grows.
 *
 * However it comes, it costs at most twice its length, or what was expected up to the usual length. What is unusually long takes its part of what all such bodies
 * have together, and waits while there is none. What is given up is free at once, and need not be collected.
 */
export class ReceivedBody implements Disposable {
  readonly #options: ReceivedBodyOptions;
  readonly #listener: ResponseMemoryListener;
  #buffer: ArrayBuffer | undefined;
  #bytes = 0;
  /** What has come in while the body waits for memory. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #share: ResponseShare | undefined;

  /** @param listener hears when the body need not wait any longer, or is not waited for */
  constructor(options: ReceivedBodyOptions, listener: ResponseMemoryListener) {
    this.#options = options;
    this.#listener = listener;
  }

  /** Whether nothing more is to be taken off the wire until the listener hears of it. */
  get isWaiting(): boolean {
    return this.#waitingBytes > 0;
  }

  /** @throws {ExcessiveResponse} when a body of so many bytes is too long */
  expect(bytes: number): void {
    if (bytes > this.#options.maxBytes) throw tooLong(this.#options.maxBytes);
  }

  /**
   * Takes the next part. Look at {@link isWaiting} afterwards.
   *
   * @throws {ExcessiveResponse} when the body is too long
   */
  append(chunk: Buffer): void {
    const bytes = this.#bytes + this.#waitingBytes + chunk.length;
    this.expect(bytes);
    this.#share?.noteProgress();
    if (!this.isWaiting && this.#makeCapacity(bytes)) this.#copy(chunk);
    else {
      this.#waiting.push(chunk);
      this.#waitingBytes += chunk.length;
    }
  }

  /** All of it, until it is disposed of. */
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
    const heldBytes = this.#buffer?.byteLength ?? 0;
    if (bytes <= heldBytes) return true;
    let capacityBytes = heldBytes > 0 ? 2 * heldBytes : this.#firstCapacityBytes();
    while (capacityBytes < bytes) capacityBytes *= 2;
    capacityBytes = Math.min(capacityBytes, this.#options.maxBytes);
    if (capacityBytes > USUAL_RESPONSE_BYTES) {
      this.#share ??= this.#options.memory.enter({
        onHeld: () => this.#resume(),
        onEvicted: (reason) => this.#listener.onEvicted(reason),
      });
      if (!this.#share.hold(capacityBytes)) return false;
    }
    this.#buffer = this.#grown(this.#buffer, capacityBytes);
    return true;
  }

  #firstCapacityBytes(): number {
    const { expectedBytes = 0 } = this.#options;
    const likelyBytes = Math.min(Math.ceil(expectedBytes * MARGIN), USUAL_RESPONSE_BYTES);
    return Math.max(likelyBytes, LEAST_CAPACITY_BYTES);
  }

  #grown(buffer: ArrayBuffer | undefined, bytes: number): ArrayBuffer {
    if (bytes <= LARGEST_ALLOCATION_BYTES) return buffer ? buffer.transfer(bytes) : new ArrayBuffer(bytes);
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
    if (!this.isWaiting) this.#listener.onHeld();
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
