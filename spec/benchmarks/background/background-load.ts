import type { SimulatedSystem } from '#spec/support/simulated-system.ts';
import type { Target } from '../targets.ts';

/** Something that goes on in a cluster while its metrics are scraped. */
export interface BackgroundLoad {
  /** By which it is chosen. */
  readonly name: string;
  readonly what: string;
  /** Does what is not to be measured: connects, and learns what there is. */
  prepare(place: LoadPlace): Promise<PreparedLoad>;
}

/** A load that can begin at once. */
export interface PreparedLoad extends AsyncDisposable {
  /** Goes on for `forMs`, and until everything that was asked has its response. */
  run(forMs: number): Promise<LoadOutcome>;
}

/** Where a load goes on. */
export interface LoadPlace {
  readonly system: SimulatedSystem;
  /** One for each app. */
  readonly targets: readonly Target[];
}

/** What was done. */
export interface LoadOutcome {
  readonly requests: number;
  /** How long the measured server's responses took; empty where it was asked nothing. */
  readonly latenciesMs: readonly number[];
}
