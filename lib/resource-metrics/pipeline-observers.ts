import { TokenBuckets } from '#lib/concurrency/token-buckets.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { CycleOutcome } from './manager.ts';
import type { ScrapeOutcome } from './scrape/scraper.ts';

/** What follows the scrapes of the pipeline, or keeps something of each node. */
interface PipelineObserver {
  /** Which stage has failed where one of these throws. */
  readonly stage: Stage;
  /** Told of every scrape that has ended. */
  readonly onScrape?: (outcome: ScrapeOutcome) => void;
  /** Told of every cycle that has ended. */
  readonly onCycle?: (outcome: CycleOutcome) => void;
  /** Drops what is kept of nodes that are gone; called after each cycle. */
  readonly retain?: (isLive: (nodeName: string) => boolean) => void;
}

/** Tells observers, in their order; one that throws costs itself alone. */
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

  /** @param isLive whether the cluster still has a node of this name */
  cycleEnded(outcome: CycleOutcome, isLive: (nodeName: string) => boolean): void {
    for (const observer of this.#observers) {
      this.#guard.contain(observer.stage, () => observer.onCycle?.(outcome));
      this.#guard.contain(observer.stage, () => observer.retain?.(isLive));
    }
  }
}

/** The parts of the pipeline that run in a cycle, as logs and series name them. */
export type Stage = 'nodes' | 'sink' | 'telemetry' | 'log' | 'endpoints' | 'debug' | 'api';

/** What a guard needs from outside. */
interface StageGuardOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Counts each failure. */
  readonly onFailure: (stage: Stage) => void;
}

/** The same stage may fail for each of thousands of nodes: one line a minute is enough. */
const LINES = { perSecond: 1 / 60, burst: 1 };

/**
 * Runs stages of the pipeline so that one that throws, which is an error in this program, costs what it was to do and
 * nothing else: the others go on, and it is asked again in the next cycle.
 */
export class StageGuard {
  readonly #options: StageGuardOptions;
  readonly #lines: TokenBuckets;

  constructor(options: StageGuardOptions) {
    this.#options = options;
    this.#lines = new TokenBuckets({ clock: options.clock, ...LINES });
  }

  /** @returns what the work returns; `undefined` when it throws */
  contain<T>(stage: Stage, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.report(stage, error);
      return undefined;
    }
  }

  /** Notes a failure that came later than the work. */
  report(stage: Stage, error: unknown): void {
    const { logger, onFailure } = this.#options;
    onFailure(stage);
    if (!this.#lines.of(stage).tryTake()) return;
    const stack = error instanceof Error ? error.stack : undefined;
    logger.error('A stage failed by an error in this program; the others go on', error, { stage, stack });
  }
}
