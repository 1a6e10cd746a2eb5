import { TokenBuckets } from '#lib/concurrency/token-buckets.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { CycleOutcome } from './manager.ts';
import type { ScrapeOutcome } from './scrape/scraper.ts';

interface PipelineObserver {
  /** The stage that fails if a callback throws. */
  readonly stage: Stage;
  /** Called after each scrape. */
  readonly onScrape?: (outcome: ScrapeOutcome) => void;
  /** Called after each cycle. */
  readonly onCycle?: (outcome: CycleOutcome) => void;
  /** Removes nodes that are no longer live; called after each cycle. */
  readonly retain?: (isLive: (nodeName: string) => boolean) => void;
}

/** Calls observers in their order; errors of one do not affect the others. */
export class PipelineObservers {
  readonly #guard: StageGuard;
  readonly #observers: readonly PipelineObserver[];

  constructor(guard: StageGuard, observers: readonly PipelineObserver[]) {
    this.#guard = guard;
    this.#observers = observers;
  }

  scraped(outcome: ScrapeOutcome): void {
    for (const observer of this.#observers)
      this.#guard.contain(observer.stage, () => observer.onScrape?.(outcome));
  }

  /** @param isLive whether the cluster has a node of this name */
  cycleEnded(outcome: CycleOutcome, isLive: (nodeName: string) => boolean): void {
    for (const observer of this.#observers) {
      this.#guard.contain(observer.stage, () => observer.onCycle?.(outcome));
      this.#guard.contain(observer.stage, () => observer.retain?.(isLive));
    }
  }
}

/** Stages of the pipeline, as named in logs and series. */
export type Stage = 'nodes' | 'sink' | 'telemetry' | 'log' | 'endpoints' | 'debug' | 'api';

interface StageGuardOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Counts each failure. */
  readonly onFailure: (stage: Stage) => void;
}

/** One line per minute and stage, since a stage may fail for each of thousands of nodes. */
const LINES = { perSecond: 1 / 60, burst: 1 };

/**
 * Isolates pipeline stages: an error in one, which is a bug, skips its work and is reported; it runs again next
 * cycle.
 */
export class StageGuard {
  readonly #options: StageGuardOptions;
  readonly #lines: TokenBuckets;

  constructor(options: StageGuardOptions) {
    this.#options = options;
    this.#lines = new TokenBuckets({ clock: options.clock, ...LINES });
  }

  /** @returns the result; `undefined` if the work throws */
  contain<T>(stage: Stage, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.report(stage, error);
      return undefined;
    }
  }

  /** Logs and counts an error; also for asynchronous ones. */
  report(stage: Stage, error: unknown): void {
    const { logger, onFailure } = this.#options;
    onFailure(stage);
    if (!this.#lines.get(stage).tryTake()) return;
    const stack = error instanceof Error ? error.stack : undefined;
    logger.error('Pipeline stage failed with an internal error; other stages continue', error, {
      stage,
      stack,
    });
  }
}
