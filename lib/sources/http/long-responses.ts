import { FairSemaphore } from '#lib/concurrency/semaphore.ts';

/** What may be held at once. */
export interface LongResponsesOptions {
  /** What a response may have without waiting for others; by default 64 KiB. */
  readonly shortBytes?: number;
  /** Longer ones; by default 16, of at most 4 MiB each: 64 MiB together. */
  readonly most?: number;
}

/** What is held of a response while it comes in. */
export interface HeldResponse extends Disposable {
  /**
   * What is to be waited for once a response is long, until there is capacity for it; meanwhile its socket is not read.
   *
   * @returns `undefined` while it is short
   */
  onLength(bytes: number): Promise<Disposable> | undefined;
}

/** Bounds what responses of servers that anybody may name take together while they come in. */
export class LongResponses {
  readonly #permits: FairSemaphore;
  readonly #shortBytes: number;

  constructor({ shortBytes = 64 * 1024, most = 16 }: LongResponsesOptions = {}) {
    this.#permits = new FairSemaphore(most);
    this.#shortBytes = shortBytes;
  }

  /**
   * A response begins; dispose of it when it has ended, however that may be.
   *
   * @param whose of those of one, no more are read at once than leave as many to others
   */
  begin(whose: string): HeldResponse {
    let ended: AbortController | undefined; // most responses are short, and never make one
    let permit: Promise<Disposable> | undefined;
    return {
      onLength: (bytes) => {
        if (bytes <= this.#shortBytes) return undefined;
        ended ??= new AbortController();
        permit ??= this.#permits.acquire(whose, ended.signal);
        return permit;
      },
      [Symbol.dispose]() {
        ended?.abort(new Error('the response has ended'));
        permit?.then(
          (held) => held[Symbol.dispose](),
          () => {}, // it never came
        );
      },
    };
  }
}
