import { onAbort } from '#lib/time/on-abort.ts';

/** What a scrape is given. */
export interface ScrapeBounds {
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Called when it waits for something of this process; the result is disposed of when it goes on. */
  readonly pause: () => Disposable;
}

/** A scrape that has begun, maybe in an earlier cycle. */
export interface ScrapeUnderWay {
  readonly isWaiting: boolean;
  /** In how many cycles its node was not asked because of it. */
  readonly passes: number;
  readonly ended: Promise<void>;
}

/**
 * The scrapes that have begun and not ended, one a node.
 *
 * Each ends with its cycle, but for those that had to wait for this process, as for a handshake's permit: they go on, within
 * their own time, or our load would look like a failure of the kubelet.
 */
export class ScrapesUnderWay {
  readonly #stopped: AbortSignal;
  readonly #scrapes = new Map<string, { -readonly [Key in keyof ScrapeUnderWay]: ScrapeUnderWay[Key] }>();

  /** @param stopped ends all of them */
  constructor(stopped: AbortSignal) {
    this.#stopped = stopped;
  }

  /** Resolves when the scrape has ended, or goes on though its cycle is over. */
  async run(
    nodeName: string,
    cycle: AbortSignal,
    scrape: (bounds: ScrapeBounds) => Promise<void>,
  ): Promise<void> {
    const own = new AbortController();
    const left = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const underWay = { isWaiting: false, passes: 0, ended: ended.promise };
    let hasWaited = false;
    const pause = () => {
      hasWaited = underWay.isWaiting = true;
      return {
        [Symbol.dispose]: () => {
          underWay.isWaiting = false;
        },
      };
    };
    const stop = onAbort(this.#stopped, () => own.abort(this.#stopped.reason));
    const end = onAbort(cycle, () => (hasWaited ? left.resolve() : own.abort(cycle.reason)));
    this.#scrapes.set(nodeName, underWay);
    const finish = () => {
      this.#scrapes.delete(nodeName);
      stop[Symbol.dispose]();
      end[Symbol.dispose]();
      ended.resolve();
    };
    await Promise.race([scrape({ signal: own.signal, pause }).finally(finish), left.promise]);
  }

  /**
   * Notes that a node is not asked in a cycle, if an earlier scrape of it is under way.
   *
   * @returns that one
   */
  passOver(nodeName: string): ScrapeUnderWay | undefined {
    const underWay = this.#scrapes.get(nodeName);
    if (underWay) underWay.passes++;
    return underWay;
  }
}
