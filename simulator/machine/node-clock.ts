import type { Clock } from '#lib/time/clock.ts';

/** How a node's wall clock was set, and since when: a monotonic moment, minus infinity for how it always was. */
export interface ClockSetting {
  readonly sinceMs: number;
  /** How far it has been ahead of the cluster's since then. */
  readonly skewMs: number;
}

/**
 * The wall clock shows whole milliseconds and the monotonic one parts of them, so that they seem to lie now closer together and now
 * further apart. A moment whose stamp followed that would go back and forth by a millisecond, as no kubelet's does.
 */
const SAME_OFFSET_MS = 2;

/**
 * Time on one node: counters follow the monotonic clock, stamps the wall clock, which may be wrong on this node and be
 * stepped. What was stamped before a step keeps its stamp.
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

  /** How the wall clock was set, the earliest setting first. */
  get settings(): readonly ClockSetting[] {
    return this.#settings;
  }

  /** Milliseconds that never step back. */
  nowMs(): number {
    return this.#clock.monotonicMs();
  }

  /** What the node's wall clock showed at a monotonic moment, in milliseconds since the epoch. */
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
   * The moment that a stamp tells of, and how the wall clock was set then; the latest, where a step back made it show the
   * same twice.
   *
   * @param finenessMs by how much less than the wall clock showed a stamp may be, as it is rounded down
   * @returns `undefined` where it has never shown that
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
