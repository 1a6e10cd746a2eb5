import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { ExcessiveResponse } from '#lib/resource-metrics/scrape/response-bounds.ts';
import { explainHttpError, KubeletStatusError } from './kubelet-error.ts';
import { ReceivedBody, type ReceivedBodyOptions } from './received-body.ts';

/** The rest of a response that is no success is left unread from here on. */
const MAX_REFUSAL_BYTES = 16 * 1024;

/** As in Go's client: nobody asked for any. */
const MOST_PROVISIONAL_RESPONSES = 5;

/** A longer reason is cut in the error. */
const MAX_REFUSAL_LENGTH = 200;

/** UTF-8 takes up to four bytes a character. */
const KEPT_REFUSAL_BYTES = 4 * MAX_REFUSAL_LENGTH;

/** What takes a response, and how it is held until it is whole. */
export interface KubeletResponseOptions<Read> extends ReceivedBodyOptions {
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
    this.#controller?.abort(reason instanceof Error ? reason : new Error(String(reason)));
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
