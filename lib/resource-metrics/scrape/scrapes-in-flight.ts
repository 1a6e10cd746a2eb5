import { onAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';

/** What is needed from outside. */
interface ScrapesUnderWayOptions {
  readonly clock: Clock;
  /** Ends all of them. */
  readonly stopped: AbortSignal;
}

/** What a scrape is given. */
export interface ScrapeBounds {
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Called when it waits for something of this process; the result is disposed of when it goes on. */
  readonly pause: () => Disposable;
}

/** A scrape that has begun, maybe in an earlier cycle. */
interface ScrapeUnderWay {
  readonly isWaiting: boolean;
  /** In how many cycles its node was not asked because of it. */
  readonly passes: number;
  readonly ended: Promise<void>;
}

/** Less than this makes no kubelet look slow. */
const LEAST_WAIT_MS = 100;

/**
 * The scrapes that have begun and not ended, one a node.
 *
 * Each ends with its cycle, but for those that had to wait for this process, as for a handshake's permit: they have as much
 * more as they waited, or our load would look like a failure of the kubelet.
 */
export class ScrapesUnderWay {
  readonly #options: ScrapesUnderWayOptions;
  readonly #scrapes = new Map<string, { -readonly [Key in keyof ScrapeUnderWay]: ScrapeUnderWay[Key] }>();

  constructor(options: ScrapesUnderWayOptions) {
    this.#options = options;
  }

  /** Resolves when the scrape has ended, or goes on though its cycle is over. */
  async run(
    nodeName: string,
    cycle: AbortSignal,
    scrape: (bounds: ScrapeBounds) => Promise<void>,
  ): Promise<void> {
    const { clock, stopped } = this.#options;
    const own = new AbortController();
    const [left, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const underWay = { isWaiting: false, passes: 0, ended: ended.promise };
    let waitedMs = 0;
    let cycleEndMs: number | undefined;
    let grace: Disposable | undefined;
    const startGrace = (endMs: number) => {
      const leftMs = endMs + waitedMs - clock.monotonicMs();
      grace = clock.startTimer(Math.max(leftMs, 1), () => own.abort(cycle.reason));
    };
    const pause = () => {
      const sinceMs = clock.monotonicMs();
      underWay.isWaiting = true;
      return {
        [Symbol.dispose]: () => {
          underWay.isWaiting = false;
          waitedMs += clock.monotonicMs() - sinceMs;
          if (cycleEndMs !== undefined) startGrace(cycleEndMs);
        },
      };
    };
    const stop = onAbort(stopped, () => own.abort(stopped.reason));
    const end = onAbort(cycle, () => {
      if (!underWay.isWaiting && waitedMs < LEAST_WAIT_MS) return own.abort(cycle.reason);
      cycleEndMs = clock.monotonicMs();
      if (!underWay.isWaiting) startGrace(cycleEndMs);
      left.resolve();
    });
    const finish = () => {
      this.#scrapes.delete(nodeName);
      cycleEndMs = undefined;
      for (const held of [grace, stop, end]) held?.[Symbol.dispose]();
      ended.resolve();
    };
    this.#scrapes.set(nodeName, underWay);
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
