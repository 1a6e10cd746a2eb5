import { onAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';

interface ScrapesInFlightOptions {
  readonly clock: Clock;
  /** Aborts all scrapes. */
  readonly stopped: AbortSignal;
}

export interface ScrapeBounds {
  /** Aborts the scrape. */
  readonly signal: AbortSignal;
  /** Called when the scrape waits for this process; the result is disposed when it continues. */
  readonly pause: () => Disposable;
}

/** A scrape that may have started in an earlier cycle. */
interface ScrapeInFlight {
  readonly isWaiting: boolean;
  /** Cycles that skipped its node. */
  readonly skippedCycles: number;
  readonly ended: Promise<void>;
}

/** Shorter waits do not make a kubelet look slow. */
const MIN_WAIT_MS = 100;

/**
 * Scrapes that have started and not ended, at most one per node.
 *
 * A scrape ends with its cycle. If it waited for this process, as for the permit of a handshake, its time is extended
 * by the wait, so that local load does not look like a failure of the kubelet.
 */
export class ScrapesInFlight {
  readonly #options: ScrapesInFlightOptions;
  readonly #scrapes = new Map<string, { -readonly [Key in keyof ScrapeInFlight]: ScrapeInFlight[Key] }>();

  constructor(options: ScrapesInFlightOptions) {
    this.#options = options;
  }

  /** Resolves when the scrape has ended, or continues beyond its cycle. */
  async run(
    nodeName: string,
    cycle: AbortSignal,
    scrape: (bounds: ScrapeBounds) => Promise<void>,
  ): Promise<void> {
    const { clock, stopped } = this.#options;
    const own = new AbortController();
    const [left, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const inFlight = { isWaiting: false, skippedCycles: 0, ended: ended.promise };
    let waitedMs = 0;
    let cycleEndMs: number | undefined;
    let grace: Disposable | undefined;
    const startGrace = (endMs: number) => {
      const leftMs = endMs + waitedMs - clock.monotonicMs();
      grace = clock.startTimer(Math.max(leftMs, 1), () => own.abort(cycle.reason));
    };
    const pause = () => {
      const sinceMs = clock.monotonicMs();
      inFlight.isWaiting = true;
      return {
        [Symbol.dispose]: () => {
          inFlight.isWaiting = false;
          waitedMs += clock.monotonicMs() - sinceMs;
          if (cycleEndMs !== undefined) startGrace(cycleEndMs);
        },
      };
    };
    const stop = onAbort(stopped, () => own.abort(stopped.reason));
    const end = onAbort(cycle, () => {
      if (!inFlight.isWaiting && waitedMs < MIN_WAIT_MS) return own.abort(cycle.reason);
      cycleEndMs = clock.monotonicMs();
      if (!inFlight.isWaiting) startGrace(cycleEndMs);
      left.resolve();
    });
    const finish = () => {
      this.#scrapes.delete(nodeName);
      cycleEndMs = undefined;
      for (const resource of [grace, stop, end]) resource?.[Symbol.dispose]();
      ended.resolve();
    };
    this.#scrapes.set(nodeName, inFlight);
    await Promise.race([scrape({ signal: own.signal, pause }).finally(finish), left.promise]);
  }

  /** Counts a cycle that skips a node with a scrape in flight. @returns that scrape, if any */
  skip(nodeName: string): ScrapeInFlight | undefined {
    const inFlight = this.#scrapes.get(nodeName);
    if (inFlight) inFlight.skippedCycles++;
    return inFlight;
  }
}
