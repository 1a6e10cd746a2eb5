import { FairSemaphore } from './semaphore.ts';

/** What may be held at once. */
interface LongResponsesOptions {
  /** What a response may have without waiting for others; by default 64 KiB. */
  readonly shortBytes?: number;
  /** Longer ones that are read at once; by default 16. */
  readonly maxConcurrent?: number;
}

/** What is held of a response while it comes in. */
interface BufferedResponse extends Disposable {
  /**
   * What is to be waited for once a response is long, until there is capacity for it; meanwhile its socket is not read.
   *
   * @returns `undefined` while it is short
   */
  onLength(bytes: number): Promise<Disposable> | undefined;
}

/** Bounds what long responses, as long as a tenant likes, take together while they arrive. */
export class LongResponses {
  readonly #permits: FairSemaphore;
  readonly #shortBytes: number;

  constructor({ shortBytes = 64 * 1024, maxConcurrent = 16 }: LongResponsesOptions = {}) {
    this.#permits = new FairSemaphore(maxConcurrent);
    this.#shortBytes = shortBytes;
  }

  /**
   * A response begins; dispose of it when it has ended, however that may be.
   *
   * @param whose the tenant, or the host where there is none: of those of one, no more are read at once than leave as many to others
   */
  begin(whose: string): BufferedResponse {
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
