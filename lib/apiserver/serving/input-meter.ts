import type { Clock } from '#lib/time/clock.ts';

/** A connection, or an HTTP/2 session, whose input is metered. */
interface Metered {
  /** Received so far. */
  readonly bytesRead: () => number;
  readonly cutOff: () => void;
}

interface InputMeterOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** What a connection may send from the start of one request to the start of the next. */
  readonly maxBytes: number;
  /** Called for each connection that is cut off. */
  readonly onExceeded: () => void;
}

interface Input extends Metered {
  /** Bytes that do not count, as they came before the last request or long ago. */
  allowedBytes: number;
}

/** Frames that an HTTP/2 client sends without requests, such as pings, and window updates while it reads a watch. */
const BYTES_PER_SECOND = 64 * 1024;
/** As often as this, or in each turn of a busy event loop. */
const INTERVAL_MS = 50;

/**
 * Cuts off clients that send much without a request: HTTP/2 frames and line breaks take little of the event loop each,
 * but hundreds of connections that send them without end would take seconds in each turn. Node has no limit for them.
 */
export class InputMeter implements Disposable {
  readonly #options: InputMeterOptions;
  readonly #inputs = new Map<object, Input>();
  #timer: NodeJS.Timeout | undefined;
  #checkedAtMs = 0;

  constructor(options: InputMeterOptions) {
    this.#options = options;
  }

  /** Begins to meter a connection. @param key of {@link begin} and {@link remove} */
  add(key: object, metered: Metered): void {
    this.#inputs.set(key, { ...metered, allowedBytes: 0 });
    if (this.#timer) return;
    this.#checkedAtMs = this.#options.clock.monotonicMs();
    this.#timer = setInterval(() => this.check(), INTERVAL_MS);
  }

  remove(key: object): void {
    this.#inputs.delete(key);
    if (this.#inputs.size === 0) this.#stop();
  }

  /** Called when a request of a connection begins. */
  begin(key: object): void {
    const input = this.#inputs.get(key);
    if (input) input.allowedBytes = input.bytesRead();
  }

  [Symbol.dispose](): void {
    this.#inputs.clear();
    this.#stop();
  }

  /** Cuts off the connections that have sent too much. */
  check(): void {
    const nowMs = this.#options.clock.monotonicMs();
    const moreBytes = ((nowMs - this.#checkedAtMs) / 1000) * BYTES_PER_SECOND;
    this.#checkedAtMs = nowMs;
    for (const [key, input] of this.#inputs) {
      const bytesRead = input.bytesRead();
      input.allowedBytes = Math.min(bytesRead, input.allowedBytes + moreBytes);
      if (bytesRead - input.allowedBytes <= this.#options.maxBytes) continue;
      this.remove(key);
      this.#options.onExceeded();
      input.cutOff();
    }
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
