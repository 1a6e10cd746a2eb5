import { formatMemoryBytes } from '#lib/kubernetes/quantity.ts';
import { ExcessiveResponse } from '#lib/resource-metrics/scrape/response-bounds.ts';
import type { ResponseMemory, ResponseMemoryListener, ResponseShare } from './response-memory.ts';

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
export interface ReceivedBodyOptions {
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
