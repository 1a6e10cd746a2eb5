import { FairSemaphore } from '#lib/concurrency/semaphore.ts';
import type { Query } from '#lib/sources/query.ts';

/** Requests to one source at once, where its query says nothing else. */
const MOST_AT_ONCE = 32;

/**
 * Has tenants share sources: of the requests that one takes at once, those of one namespace are no more than it leaves
 * free to others, so that slow queries of one namespace never keep those of another waiting.
 */
export class SourceSemaphores {
  readonly #bySource = new Map<string, FairSemaphore>();

  /**
   * Waits until the source of a query may be asked for a tenant. Without the name of either it is asked at once.
   *
   * @returns a permit, to be disposed of when the request has ended
   * @throws the signal's reason when it aborts first
   */
  async acquire(
    { source, mostAtOnce = MOST_AT_ONCE }: Query,
    tenant: string | undefined,
    signal: AbortSignal,
  ): Promise<Disposable> {
    if (source === undefined || tenant === undefined) return { [Symbol.dispose]() {} };
    const semaphore = this.#bySource.get(source) ?? new FairSemaphore(mostAtOnce);
    this.#bySource.set(source, semaphore);
    const forget = () => {
      if (semaphore.isIdle && this.#bySource.get(source) === semaphore) this.#bySource.delete(source);
    };
    try {
      const permit = await semaphore.acquire(tenant, signal);
      return {
        [Symbol.dispose]() {
          permit[Symbol.dispose]();
          forget();
        },
      };
    } catch (error) {
      forget();
      throw error;
    }
  }
}
