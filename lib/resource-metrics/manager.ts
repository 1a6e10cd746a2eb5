import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';

export interface CycleOutcome {
  readonly durationMs: number;
  /** Cycles skipped because this one started late or took too long. */
  readonly skippedCycles: number;
}

interface ManagerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly resolutionMs: number;
  /**
   * Scrapes all nodes and publishes their responses. Must end soon after the signal aborts, at `endsAtMs` of the
   * monotonic clock.
   */
  readonly collect: (signal: AbortSignal, endsAtMs: number) => Promise<void>;
  readonly onCycle: (outcome: CycleOutcome) => void;
}

/** Delay of the second cycle at any resolution, since a rate needs two readings. */
export const SECOND_CYCLE_AFTER_MS = 12_000;

/** A cycle is late when the previous one started more than this many resolutions ago. */
const TIMELY_RESOLUTIONS = 1.5;

/**
 * Timers and aborted cycles end some milliseconds late. A delay beyond this means that the process was stopped: by
 * SIGSTOP, or in a suspended machine.
 */
const STALL_MS = 1_000;

/** Drives the pipeline: collects at the start, again after 12 s, then at every resolution. */
export class Manager {
  readonly #options: ManagerOptions;
  #lastStartMs: number | undefined;
  #skippedByStall = 0;

  constructor(options: ManagerOptions) {
    this.#options = options;
  }

  /** Whether cycles start on time; true before {@link run}. */
  get isTimely(): boolean {
    const { clock, resolutionMs } = this.#options;
    const latestMs = Math.max(resolutionMs, SECOND_CYCLE_AFTER_MS) * TIMELY_RESOLUTIONS;
    return this.#lastStartMs === undefined || clock.monotonicMs() - this.#lastStartMs <= latestMs;
  }

  /**
   * Runs cycles until the signal aborts. Each ends when the next is due, so cycles do not overlap. Cycles missed by a
   * stalled process are skipped.
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

  /** @returns the time when the next cycle is due */
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
      if (!signal.aborted) logger.error('Cannot complete scrape cycle', error);
    }
    const endMs = clock.monotonicMs();
    const lateMs = endMs - nextMs;
    const missedCycles = lateMs < STALL_MS ? 0 : Math.floor(lateMs / resolutionMs) + 1;
    if (missedCycles > 0) logger.warning('Scrape cycle overran', { skippedCycles: missedCycles });
    onCycle({ durationMs: endMs - startMs, skippedCycles: this.#skippedByStall + missedCycles });
    this.#skippedByStall = 0;
    return nextMs + missedCycles * resolutionMs;
  }

  /**
   * Waits until a cycle is due. After a stall it is due now, with a full resolution left, since the remaining time to
   * the next cycle might be too short for kubelets to respond.
   *
   * @returns the time when the cycle is due
   */
  async #waitUntil(dueMs: number, signal: AbortSignal): Promise<number> {
    const { clock, logger, resolutionMs } = this.#options;
    const leftMs = dueMs - clock.monotonicMs();
    if (leftMs > 0) await clock.sleep(leftMs, { signal }).catch(() => {}); // aborted: the loop ends
    const wokenMs = clock.monotonicMs();
    const lateMs = wokenMs - dueMs;
    if (lateMs < STALL_MS) return dueMs;
    this.#skippedByStall = Math.floor(lateMs / resolutionMs);
    logger.warning('Event loop stalled', {
      forSeconds: Math.round(lateMs / 1000),
      skippedCycles: this.#skippedByStall,
    });
    return wokenMs;
  }
}
