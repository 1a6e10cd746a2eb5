import type { Clock } from '#lib/time/clock.ts';

/** A setting of a node's wall clock, and the monotonic moment from which it holds; minus infinity for the first. */
export interface ClockSetting {
  readonly sinceMs: number;
  /** How far it is ahead of the cluster's clock. */
  readonly skewMs: number;
}

/**
 * The wall clock has whole milliseconds and the monotonic clock fractions of them, so that their offset varies by a
 * millisecond. Timestamps of one moment must not vary with it, as those of kubelets do not.
 */
const SAME_OFFSET_MS = 2;

/**
 * Time on one node: counters follow the monotonic clock, timestamps the wall clock, which may be wrong on this node and
 * may be stepped. Timestamps from before a step do not change.
 */
export class NodeClock {
  readonly #clock: Clock;
  readonly #settings: ClockSetting[];
  #heldOffsetMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, skewMs = 0) {
    this.#clock = clock;
    this.#settings = [{ sinceMs: Number.NEGATIVE_INFINITY, skewMs }];
  }

  /** How far the node's wall clock is ahead of the cluster's now. */
  get skewMs(): number {
    return this.#settings.at(-1)?.skewMs ?? 0;
  }

  /** Steps the wall clock. */
  set skewMs(skewMs: number) {
    this.#settings.push({ sinceMs: this.#clock.monotonicMs(), skewMs });
  }

  /** The settings of the wall clock, the earliest first. */
  get settings(): readonly ClockSetting[] {
    return this.#settings;
  }

  /** The monotonic clock, in milliseconds. */
  nowMs(): number {
    return this.#clock.monotonicMs();
  }

  /** The node's wall clock at a monotonic moment, in milliseconds since the epoch. */
  stampMs(momentMs: number): number {
    return this.reading()(momentMs);
  }

  /** Reads both clocks once: {@link stampMs} for many moments. */
  reading(): (momentMs: number) => number {
    const offsetMs = this.#offsetMs();
    const settings = this.#settings;
    const latest = settings[settings.length - 1];
    return (momentMs) => {
      const isLatest = latest !== undefined && latest.sinceMs <= momentMs;
      const setting = isLatest ? latest : settings.findLast(({ sinceMs }) => sinceMs <= momentMs);
      return momentMs + offsetMs + (setting?.skewMs ?? 0);
    };
  }

  /**
   * Finds the moment of a timestamp, and the setting of the wall clock then; the latest one where a step back made the
   * wall clock show the same time twice.
   *
   * @param finenessMs the unit to which timestamps are rounded down
   * @returns `undefined` for a time that the wall clock never showed
   */
  trace(
    stampMs: number,
    finenessMs: number,
  ): { readonly momentMs: number; readonly setting: ClockSetting } | undefined {
    const nowMs = this.nowMs();
    for (const setting of this.#settings.toReversed()) {
      const momentMs = stampMs - this.#offsetMs() - setting.skewMs;
      if (momentMs <= nowMs && momentMs + finenessMs > setting.sinceMs) return { momentMs, setting };
    }
    return undefined;
  }

  #offsetMs(): number {
    const offsetMs = this.#clock.nowMs() - this.#clock.monotonicMs();
    if (Math.abs(offsetMs - this.#heldOffsetMs) > SAME_OFFSET_MS) this.#heldOffsetMs = offsetMs;
    return this.#heldOffsetMs;
  }
}
