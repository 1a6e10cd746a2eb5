/** A request that has come in. */
export interface PacedRequest {
  /** Where it comes from. */
  readonly address: string;
  readonly begin: () => void;
  /** Whether its client has left. */
  readonly isOver: () => boolean;
}

/** So many requests begin before others have had the event loop: they take some milliseconds. */
const MOST_AT_ONCE = 16;

/**
 * Begins requests, no more than a few in each time slice: thousands may come in one packet. Of those that wait, each
 * address that they come from begins one before any begins another. A request that was taken back meanwhile, as by RST_STREAM, never begins.
 */
export class RequestPacer {
  readonly #waiting = new Map<string, Set<PacedRequest>>();
  #begunCount = 0;
  #slice: NodeJS.Immediate | undefined;

  take(request: PacedRequest): void {
    if (this.#waiting.size === 0 && this.#begunCount < MOST_AT_ONCE) {
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
    while (this.#begunCount < MOST_AT_ONCE) {
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
