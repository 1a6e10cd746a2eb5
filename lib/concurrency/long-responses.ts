import { FairSemaphore } from './semaphore.ts';

interface LongResponsesOptions {
  /** Size up to which a response does not wait for others; by default 64 KiB. */
  readonly shortBytes?: number;
  /** Concurrent longer responses; by default 16. */
  readonly maxConcurrent?: number;
}

/** A response that is being received. */
interface BufferedResponse extends Disposable {
  /**
   * Returns a promise of capacity for a long response; its socket must not be read until then.
   *
   * @returns `undefined` while the response is short
   */
  onLength(bytes: number): Promise<Disposable> | undefined;
}

/** Limits the memory of long responses of untrusted servers while they are received. */
export class LongResponses {
  readonly #permits: FairSemaphore;
  /** Of each owner, by hosts. */
  readonly #hostPermits = new Map<string, FairSemaphore>();
  readonly #maxPerOwner: number;
  readonly #shortBytes: number;

  constructor({ shortBytes = 64 * 1024, maxConcurrent = 16 }: LongResponsesOptions = {}) {
    this.#permits = new FairSemaphore(maxConcurrent);
    this.#maxPerOwner = Math.floor(maxConcurrent / 2);
    this.#shortBytes = shortBytes;
  }

  /**
   * Registers a response; dispose of it when it has ended or failed.
   *
   * @param owner the tenant, or the host without a tenant; owners share the limit fairly
   * @param host hosts of one owner share its part fairly: a slow one leaves half of it to the others; by default the owner
   * has only one
   */
  begin(owner: string, host?: string): BufferedResponse {
    let ended: AbortController | undefined; // most responses are short and need none
    let permit: Promise<Disposable> | undefined;
    return {
      onLength: (bytes) => {
        if (bytes <= this.#shortBytes) return undefined;
        ended ??= new AbortController();
        permit ??= this.#acquire(owner, host, ended.signal);
        return permit;
      },
      [Symbol.dispose]() {
        ended?.abort(new Error('the response has ended'));
        permit?.then(
          (acquired) => acquired[Symbol.dispose](),
          () => {}, // it was not acquired
        );
      },
    };
  }

  async #acquire(owner: string, host: string | undefined, signal: AbortSignal): Promise<Disposable> {
    if (host === undefined) return await this.#permits.acquire(owner, signal);
    const hosts = this.#hostPermits.get(owner) ?? new FairSemaphore(this.#maxPerOwner);
    this.#hostPermits.set(owner, hosts);
    using acquired = new DisposableStack();
    acquired.defer(() => {
      if (hosts.isIdle) this.#hostPermits.delete(owner);
    });
    acquired.use(await hosts.acquire(host, signal));
    acquired.use(await this.#permits.acquire(owner, signal));
    return acquired.move();
  }
}
