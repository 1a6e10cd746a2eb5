import type { SimulatedSystem } from '#spec/support/simulated-system.ts';
import type { Target } from '../targets.ts';

/** Activity in a cluster during scraping. */
export interface BackgroundLoad {
  /** Name on the command line. */
  readonly name: string;
  readonly what: string;
  /** Performs the unmeasured setup: connects, and discovers objects. */
  prepare(place: LoadEnvironment): Promise<PreparedLoad>;
}

/** A load that is ready to start. */
export interface PreparedLoad extends AsyncDisposable {
  /** Runs for `forMs`, and until all responses have arrived. */
  run(forMs: number): Promise<LoadOutcome>;
}

/** Servers and objects that a load uses. */
export interface LoadEnvironment {
  readonly system: SimulatedSystem;
  /** One per app. */
  readonly targets: readonly Target[];
}

export interface LoadOutcome {
  readonly requests: number;
  /** Latencies of the measured server's responses; empty if the load sends no requests. */
  readonly latenciesMs: readonly number[];
}
