import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';

/** What became of one cycle. */
export interface CycleOutcome {
  readonly durationMs: number;
  /** How many cycles were due before this one began or while it lasted, and were left out. */
  readonly skippedCycles: number;
}

/** What a manager needs from outside. */
export interface ManagerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly resolutionMs: number;
  /**
   * Scrapes all nodes once, and has their responses served. To end soon after the signal aborts, which it does at the given time of
   * the monotonic clock.
   */
  readonly collect: (signal: AbortSignal, endsAtMs: number) => Promise<void>;
  readonly onCycle: (outcome: CycleOutcome) => void;
}

/** The second cycle follows the first this soon, at any resolution: a rate needs two readings. */
export const SECOND_CYCLE_AFTER_MS = 12_000;

/** A cycle that did not begin within this many resolutions of the one before it is late. */
const TIMELY_RESOLUTIONS = 1.5;

/**
 * Timers are some milliseconds late, and a cycle that its deadline ends is over that much after it. Who is this much
 * too late did not run: under SIGSTOP, or in a machine that slept.
 */
const STANDSTILL_MS = 1_000;

/** Drives the pipeline: collects once at the start, again 12 s later, then every resolution. */
export class Manager {
  readonly #options: ManagerOptions;
  #lastStartMs: number | undefined;
  #missedAsleep = 0;

  constructor(options: ManagerOptions) {
    this.#options = options;
  }

  /** Whether cycles begin when they are due; true until {@link run} is called. */
  get isTimely(): boolean {
    const { clock, resolutionMs } = this.#options;
    const latestMs = Math.max(resolutionMs, SECOND_CYCLE_AFTER_MS) * TIMELY_RESOLUTIONS;
    return this.#lastStartMs === undefined || clock.monotonicMs() - this.#lastStartMs <= latestMs;
  }

  /**
   * Runs cycles until the signal aborts. Each ends when the next is due, so that no two overlap. Those that a stalled
   * process missed are skipped over, never made up for.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, resolutionMs } = this.#options;
    const firstMs = clock.monotonicMs();
    let dueMs = firstMs;
    while (!signal.aborted) {
      const nextMs = dueMs + (dueMs === firstMs ? SECOND_CYCLE_AFTER_MS : resolutionMs);
      dueMs = await this.#waitUntil(await this.#cycle(nextMs, signal), signal);
    }
  }

  /** @returns when the next cycle is due */
  async #cycle(nextMs: number, signal: AbortSignal): Promise<number> {
    const { clock, logger, resolutionMs, collect, onCycle } = this.#options;
    const startMs = clock.monotonicMs();
    this.#lastStartMs = startMs;
    using deadline = startDeadline(clock, nextMs - startMs, {
      signal,
      expired: () => new Error('no response before the next cycle was due'),
    });
    try {
      await collect(deadline.signal, nextMs);
    } catch (error) {
      if (!signal.aborted) logger.error('Cannot complete a cycle', error);
    }
    const endMs = clock.monotonicMs();
    const lateMs = endMs - nextMs;
    const missedCycles = lateMs < STANDSTILL_MS ? 0 : Math.floor(lateMs / resolutionMs) + 1;
    if (missedCycles > 0) logger.warning('A cycle took longer than it may', { skippedCycles: missedCycles });
    onCycle({ durationMs: endMs - startMs, skippedCycles: this.#missedAsleep + missedCycles });
    this.#missedAsleep = 0;
    return nextMs + missedCycles * resolutionMs;
  }

  /**
   * Waits for a cycle's time. Where the process stood still meanwhile, that is now: what is left of the time to the
   * one after it might be too short for kubelets to respond.
   *
   * @returns the time
   */
  async #waitUntil(dueMs: number, signal: AbortSignal): Promise<number> {
    const { clock, logger, resolutionMs } = this.#options;
    const leftMs = dueMs - clock.monotonicMs();
    if (leftMs > 0) await clock.sleep(leftMs, { signal }).catch(() => {}); // aborted: the loop ends
    const wokenMs = clock.monotonicMs();
    const lateMs = wokenMs - dueMs;
    if (lateMs < STANDSTILL_MS) return dueMs;
    this.#missedAsleep = Math.floor(lateMs / resolutionMs);
    logger.warning('The process stood still', {
      forSeconds: Math.round(lateMs / 1000),
      skippedCycles: this.#missedAsleep,
    });
    return wokenMs;
  }
}
