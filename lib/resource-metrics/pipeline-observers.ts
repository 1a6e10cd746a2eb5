import type { CycleOutcome } from './manager.ts';
import type { ScrapeOutcome } from './scrape/scraper.ts';
import type { Stage, StageGuard } from './stage-guard.ts';

/** What follows the scrapes of the pipeline, or keeps something of each node. */
export interface PipelineObserver {
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
