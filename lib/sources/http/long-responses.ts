import { Semaphore } from '#lib/concurrency/semaphore.ts';

/** What may be held at once. */
export interface LongResponsesOptions {
  /** What a response may have without waiting for others; by default 64 KiB. */
  readonly shortBytes?: number;
  /** Longer ones; by default 16, of at most 4 MiB each: 64 MiB together. */
  readonly most?: number;
}

/** What is held of a response while it comes in. */
export interface HeldResponse extends Disposable {
  /** Waits, once a response is long, until there is capacity for it; meanwhile its socket is not read. */
  onLength(bytes: number): Promise<void>;
}

/** Bounds what responses of servers that anybody may name take together while they come in. */
export class LongResponses {
  readonly #permits: Semaphore;
  readonly #shortBytes: number;

  constructor({ shortBytes = 64 * 1024, most = 16 }: LongResponsesOptions = {}) {
    this.#permits = new Semaphore(most);
    this.#shortBytes = shortBytes;
  }

  /** A response begins; dispose of it when it has ended, however that may be. */
  begin(): HeldResponse {
    const ended = new AbortController();
    let permit: Promise<Disposable> | undefined;
    return {
      onLength: async (bytes) => {
        if (bytes > this.#shortBytes) permit ??= this.#permits.acquire(ended.signal);
        await permit;
      },
      [Symbol.dispose]() {
        ended.abort(new Error('the response has ended'));
        permit?.then(
          (held) => held[Symbol.dispose](),
          () => {}, // it never came
        );
      },
    };
  }
}
